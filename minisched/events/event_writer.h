#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <stop_token>

#include "minisched/api/event.h"
#include "minisched/client/client.h"

namespace minisched {

// Writes events without blocking. Thread-safe. Follows recordEvent() of
// client-go tools/events/event_broadcaster.go.
class EventWriter {
 public:
  enum class Outcome {
    kWritten,
    kRefused,   // for good
    kTryLater,  // the server is out of order, or the event existed already
    kNoServer,  // not reached: other events would fail too
    kStopped
  };

  // How a write ended. `exists`: the event is on the server, as far as known.
  using Done = std::function<void(Outcome outcome, bool exists)>;

  // `client` must outlive the writer.
  explicit EventWriter(Client& client) : client_(client) {}

  // Creates the event. If it `exists`, patches its series instead, and creates
  // it only if the server has dropped it since. Calls back on the client's
  // executor. Logs failures. The writer must live until then.
  void Write(const std::shared_ptr<const Event>& event, bool exists,
             const std::stop_token& stop, Done done);

 private:
  using EventPtr = std::shared_ptr<const Event>;

  void Patch(const EventPtr& event, const std::stop_token& stop, Done done);
  void Create(const EventPtr& event, const std::stop_token& stop, Done done);
  void Settle(const Event& event, const ClientResult<void>& answer,
              bool existed, const Done& done);
  void LogOutage(const ClientError& error);

  Client& client_;
  std::atomic<bool> failing_ = false;  // which has been logged
};

}  // namespace minisched
