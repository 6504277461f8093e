#pragma once

#include <stop_token>

#include "minisched/api/event.h"
#include "minisched/client/client.h"

namespace minisched {

// Writes one event. Not thread-safe. Follows recordEvent() of client-go
// tools/events/event_broadcaster.go.
class EventWriter {
 public:
  enum class Outcome {
    kWritten,
    kRefused,   // for good
    kTryLater,  // the server is out of order, or this event has met another
    kNoServer   // not reached; no other event will fare better
  };

  // `client` must outlive the writer.
  explicit EventWriter(Client& client) : client_(client) {}

  // Creates the event; or, where it `exists` already, patches its series, and
  // creates it if it has gone since. Sets `exists` to what came out. Logs what
  // fails. Throws Cancelled.
  Outcome Write(const Event& event, bool* exists, const std::stop_token& stop);

 private:
  void CreateOrPatch(const Event& event, bool* exists,
                     const std::stop_token& stop);

  Client& client_;
  bool failing_ = false;  // which has been logged
};

}  // namespace minisched
