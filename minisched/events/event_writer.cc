#include "minisched/events/event_writer.h"

#include <exception>
#include <string>
#include <utility>

#include "minisched/api/json.h"
#include "minisched/base/log.h"
#include "minisched/client/errors.h"

namespace minisched {
namespace {

bool IsTemporary(int code) { return code == 429 || code >= 500; }

// Contains only the series, so that nothing else of the event changes.
std::string SeriesPatch(const Event& event) {
  Event patch;
  patch.series = event.series;
  return ToJson(patch);
}

}  // namespace

void EventWriter::Write(const EventPtr& event, bool exists,
                        const std::stop_token& stop, Done done) {
  try {
    if (exists) {
      Patch(event, stop, done);
    } else {
      Create(event, stop, done);
    }
  } catch (const std::exception& error) {
    // The event can't be sent: its namespace is no name, for example.
    spdlog::error("failed to write the event \"{}\" of {}: {}", event->reason,
                  event->regarding.name, error.what());
    client_.executor().Post(
        [exists, done = std::move(done)] { done(Outcome::kRefused, exists); });
  }
}

void EventWriter::Patch(const EventPtr& event, const std::stop_token& stop,
                        Done done) {
  client_.PatchAsync<Event>(
      event->metadata.namespace_name, event->metadata.name,
      PatchType::kStrategicMerge, SeriesPatch(*event), {}, stop,
      [=, this,
       done = std::move(done)](const ClientResult<void>& answer) mutable {
        if (!answer && answer.error().code() == 404) {
          // The server drops events after a while.
          Create(event, stop, std::move(done));
        } else {
          Settle(*event, answer, true, done);
        }
      });
}

void EventWriter::Create(const EventPtr& event, const std::stop_token& stop,
                         Done done) {
  client_.CreateAsync(
      *event, stop,
      [=, this, done = std::move(done)](const ClientResult<void>& answer) {
        Settle(*event, answer, false, done);
      });
}

void EventWriter::Settle(const Event& event, const ClientResult<void>& answer,
                         bool existed, const Done& done) {
  if (answer) {
    failing_ = false;
    return done(Outcome::kWritten, true);
  }
  const ClientError& error = answer.error();
  if (error.As<Cancelled>() != nullptr) {
    return done(Outcome::kStopped, existed);
  }
  // ConfigError: there are no credentials now.
  if (error.As<TransportError>() != nullptr ||
      error.As<ConfigError>() != nullptr) {
    LogOutage(error);
    return done(Outcome::kNoServer, existed);
  }
  if (IsTemporary(error.code())) {
    LogOutage(error);
    return done(Outcome::kTryLater, existed);
  }
  const auto* refusal = error.As<ApiError>();
  if (refusal != nullptr && refusal->reason() == "AlreadyExists") {
    // An earlier try succeeded, but its response got lost.
    return done(event.series ? Outcome::kTryLater : Outcome::kWritten, true);
  }
  spdlog::warn("failed to write the event \"{}: {}\" of {}: {}", event.reason,
               event.note, event.regarding.name, error.what());
  done(Outcome::kRefused, existed);
}

// Warns once while a server is away.
void EventWriter::LogOutage(const ClientError& error) {
  spdlog::log(
      failing_.exchange(true) ? spdlog::level::debug : spdlog::level::warn,
      "failed to write events, trying again: {}", error.what());
}

}  // namespace minisched
