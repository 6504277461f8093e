#include "minisched/informer/reflector_loop.h"

#include <chrono>
#include <exception>
#include <utility>

#include "minisched/base/log.h"
#include "minisched/client/errors.h"

namespace minisched {
namespace {

// After this time without a wait, the next wait is the shortest one again.
constexpr std::chrono::minutes kHealthy{2};
// A watch that ends sooner counts as a failure.
constexpr std::chrono::seconds kShortWatch{1};

constexpr int kTooManyRequests = 429;
constexpr int kGone = 410;

}  // namespace

ReflectorLoop::ReflectorLoop(std::string resource, Clock& clock)
    : resource_(std::move(resource)), clock_(clock) {}

void ReflectorLoop::Run(const std::stop_token& stop) {
  try {
    while (!stop.stop_requested()) {
      if (!ListAndWatch(stop) && !Wait(stop)) break;
    }
  } catch (const Cancelled&) {
    // `stop` asked to stop.
  }
  CloseWatch();
}

bool ReflectorLoop::ListAndWatch(const std::stop_token& stop) {
  const char* doing = version_.empty() ? "list" : "watch";
  try {
    if (version_.empty()) {
      version_ = List(stop);
      spdlog::debug("listed {}, at version {}", resource_, version_);
      doing = "watch";
    }
    return Watch(stop);
  } catch (const ApiError& error) {
    // A list would only add to the load of a busy server.
    if (error.code() != kTooManyRequests) version_.clear();
    // 410 is part of normal operation: the version has become too old.
    spdlog::log(
        error.code() == kGone ? spdlog::level::info : spdlog::level::warn,
        "failed to {} {}, trying again: {}", doing, resource_, error.what());
  } catch (const TransportError& error) {
    // We can't tell which event was lost.
    if (error.kind() == TransportError::Kind::kProtocol) version_.clear();
    spdlog::warn("failed to {} {}, trying again: {}", doing, resource_,
                 error.what());
  } catch (const std::exception& error) {
    version_.clear();
    spdlog::error("failed to {} {}, trying again: {}", doing, resource_,
                  error.what());
  }
  return false;
}

bool ReflectorLoop::Watch(const std::stop_token& stop) {
  const Clock::TimePoint start = clock_.Now();
  OpenWatch(version_, stop);
  int events = 0;
  std::string end = "the server ended it";
  try {
    while (const std::optional<std::string> version = TakeEvent()) {
      if (!version->empty()) version_ = *version;
      ++events;
    }
  } catch (const TransportError& error) {
    if (error.kind() != TransportError::Kind::kLost) throw;
    end = error.what();
  }
  CloseWatch();
  const bool is_short = clock_.Now() - start < kShortWatch;
  if (is_short && events == 0) {
    // The version or a proxy may be the cause: list again.
    version_.clear();
    spdlog::warn(
        "very short watch of {}: unexpected watch close, it lasted less than "
        "a second and no items were received ({})",
        resource_, end);
  } else {
    spdlog::debug("watch of {} ended after {} events: {}", resource_, events,
                  end);
  }
  return !is_short;
}

bool ReflectorLoop::Wait(const std::stop_token& stop) {
  CloseWatch();
  const Clock::TimePoint now = clock_.Now();
  if (now - waited_ >= kHealthy) backoff_.Reset();
  waited_ = now;
  return clock_.SleepFor(backoff_.Next(), stop);
}

}  // namespace minisched
