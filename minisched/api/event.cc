#include "minisched/api/event.h"

#include "minisched/api/codec.h"

namespace minisched {

template <class Visitor, MaybeConst<EventSeries> T>
void VisitFields(Visitor& visit, T& series) {
  visit("count", series.count);
  visit("lastObservedTime", series.last_observed_time);
}

template <class Visitor, MaybeConst<Event> T>
void VisitFields(Visitor& visit, T& event) {
  visit("metadata", event.metadata);
  visit("eventTime", event.event_time);
  visit("series", event.series);
  visit("reportingController", event.reporting_controller);
  visit("reportingInstance", event.reporting_instance);
  visit("action", event.action);
  visit("reason", event.reason);
  visit("regarding", event.regarding);
  visit("related", event.related);
  visit("note", event.note);
  visit("type", event.type);
}

MINISCHED_CODEC(Event);

}  // namespace minisched
