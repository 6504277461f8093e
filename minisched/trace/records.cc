#include "minisched/trace/records.h"

namespace minisched {

std::string_view PlaceName(Place place) {
  switch (place) {
    case Place::kGated:
      return "gated";
    case Place::kActive:
      return "active";
    case Place::kBackoff:
      return "backoff";
    case Place::kUnschedulable:
      return "unschedulable";
    case Place::kInFlight:
      return "in flight";
    case Place::kWaiting:
      return "waiting";
    case Place::kAssumed:
      return "assumed";
    case Place::kBound:
      return "bound";
    case Place::kGone:
      return "gone";
  }
  return "";
}

}  // namespace minisched
