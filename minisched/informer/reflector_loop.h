#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "minisched/base/backoff.h"
#include "minisched/base/clock.h"

namespace minisched {

// The part of a Reflector<T> that doesn't depend on T: when to list, watch and
// wait. Not thread-safe. Follows client-go tools/cache/reflector.go.
class ReflectorLoop {
 public:
  // `resource` is the name of the objects in log lines, such as "pods".
  ReflectorLoop(std::string resource, Clock& clock);
  virtual ~ReflectorLoop() = default;

  ReflectorLoop(const ReflectorLoop&) = delete;
  ReflectorLoop& operator=(const ReflectorLoop&) = delete;

  // Lists and watches until `stop` asks to stop.
  void Run(const std::stop_token& stop);

 protected:
  // These functions throw ApiError, TransportError and Cancelled.

  // Lists all objects into the store. Returns the version to watch from.
  virtual std::string List(const std::stop_token& stop) = 0;
  // Opens a watch for the changes after `version`.
  virtual void OpenWatch(const std::string& version,
                         const std::stop_token& stop) = 0;
  // Applies the next event to the store and returns its version, which may be
  // empty. Returns nullopt if the server has ended the watch. Throws ApiError
  // if the event is an error.
  virtual std::optional<std::string> TakeEvent() = 0;
  virtual void CloseWatch() = 0;

 private:
  // Lists unless there is a version to watch from, then watches until the watch
  // ends. Returns false if the caller must wait. Throws Cancelled.
  bool ListAndWatch(const std::stop_token& stop);
  // Watches until the watch ends. Returns false if the caller must wait.
  bool Watch(const std::stop_token& stop);
  // Waits after a failure. Returns false if `stop` asked to stop.
  bool Wait(const std::stop_token& stop);

  const std::string resource_;
  Clock& clock_;
  Backoff backoff_{Backoff::Options{}};
  Clock::TimePoint waited_{};  // when Wait() was last called
  // The last resource version received; empty: list first.
  std::string version_;
};

}  // namespace minisched
