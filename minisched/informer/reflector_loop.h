#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "minisched/base/backoff.h"
#include "minisched/base/clock.h"

namespace minisched {

// When a Reflector<T> lists, watches and waits, whatever the T. Not
// thread-safe. Follows client-go tools/cache/reflector.go.
class ReflectorLoop {
 public:
  // `resource` is what log lines call the objects: "pods".
  ReflectorLoop(std::string resource, Clock& clock);
  virtual ~ReflectorLoop() = default;

  ReflectorLoop(const ReflectorLoop&) = delete;
  ReflectorLoop& operator=(const ReflectorLoop&) = delete;

  // Returns when `stop` asks to stop.
  void Run(const std::stop_token& stop);

 protected:
  // These throw ApiError, TransportError and Cancelled.

  // Takes over all objects that are there. Returns the version to watch from.
  virtual std::string List(const std::stop_token& stop) = 0;
  // Opens a watch of what happens after that version.
  virtual void OpenWatch(const std::string& version,
                         const std::stop_token& stop) = 0;
  // Takes over the next event and returns its version, which may be empty;
  // nullopt when the server has ended the watch. Throws ApiError where the
  // event is an error.
  virtual std::optional<std::string> TakeEvent() = 0;
  virtual void CloseWatch() = 0;

 private:
  // Lists if need be, and watches until the watch ends. Returns whether to go
  // on at once. Throws Cancelled.
  bool ListAndWatch(const std::stop_token& stop);
  bool Watch(const std::stop_token& stop);
  bool Wait(const std::stop_token& stop);

  const std::string resource_;
  Clock& clock_;
  Backoff backoff_{Backoff::Options{}};
  Clock::TimePoint waited_{};  // when Wait() was last called
  // The last one seen; empty: list first.
  std::string version_;
};

}  // namespace minisched
