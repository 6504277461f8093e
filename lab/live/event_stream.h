#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "lab/live/history.h"
#include "minisched/base/clock.h"
#include "minisched/http/http.h"

namespace minisched::live {

// The items of a history as server-sent events, for one page. First an event
// "start", after which the page drops all that it has, and events "base" with
// the base; or an event "resume", if the page has connected before and the
// history still keeps all that the page lacks. Then events "message" with
// arrays of items as they come. A page that reads too slowly gets another
// "start".
//
// For the loop's thread.
class EventStream final : public http::Stream {
 public:
  struct Options {
    // Identifies the run of the server in the ids of events: "BOOT.POSITION".
    std::string boot;
    // The id of the last event that the page got, or "".
    std::string last_id;
    // Returns the data of the events "start" and "resume".
    std::function<std::string()> start;
    // Called by the destructor.
    std::function<void(EventStream*)> on_end;
  };

  // `history` and `clock` must outlive the stream.
  EventStream(const History& history, Options options, Clock& clock);
  ~EventStream() override;

  EventStream(const EventStream&) = delete;
  EventStream& operator=(const EventStream&) = delete;

  bool Read(std::string& out) override;

  // Calls on_ready if there is something to read: items, or a comment every
  // 15 s, which shows that the connection still works.
  void Wake();

 private:
  bool IsQuiet() const;
  // Appends an event with the id of position_.
  void AppendEvent(std::string& out, const std::string& type,
                   const std::string& data) const;

  const History& history_;
  const Options options_;
  Clock& clock_;
  // Of the next item. Empty: the page still needs the event "start".
  std::optional<std::uint64_t> position_;
  bool resumes_ = false;        // The page still needs the event "resume".
  Clock::TimePoint last_read_;  // when Read() last returned text
};

}  // namespace minisched::live
