#include "minisched/events/event_writer.h"

#include <spdlog/spdlog.h>

#include <exception>
#include <string>

#include "minisched/api/json.h"
#include "minisched/client/errors.h"

namespace minisched {
namespace {

bool IsTemporary(int code) { return code == 429 || code >= 500; }

// Nothing but the series, so that nothing else is changed.
std::string SeriesPatch(const Event& event) {
  Event patch;
  patch.series = event.series;
  return ToJson(patch);
}

}  // namespace

EventWriter::Outcome EventWriter::Write(const Event& event, bool* exists,
                                        const std::stop_token& stop) {
  // Once is enough where a server is away for long.
  const auto log_failure = [this](const std::exception& error) {
    spdlog::log(failing_ ? spdlog::level::debug : spdlog::level::warn,
                "could not write events, trying again: {}", error.what());
    failing_ = true;
  };
  try {
    CreateOrPatch(event, exists, stop);
    failing_ = false;
    return Outcome::kWritten;
  } catch (const ApiError& error) {
    if (IsTemporary(error.code())) {
      log_failure(error);
      return Outcome::kTryLater;
    }
    if (error.code() == 409 && error.reason() == "AlreadyExists") {
      // An earlier try got through, though we were not told.
      *exists = true;
      return event.series ? Outcome::kTryLater : Outcome::kWritten;
    }
    spdlog::warn("the server refuses the event \"{}: {}\" of {}: {}",
                 event.reason, event.note, event.regarding.name, error.what());
  } catch (const TransportError& error) {
    log_failure(error);
    return Outcome::kNoServer;
  } catch (const std::exception& error) {
    spdlog::error("could not write the event \"{}\" of {}: {}", event.reason,
                  event.regarding.name, error.what());
  }
  return Outcome::kRefused;
}

void EventWriter::CreateOrPatch(const Event& event, bool* exists,
                                const std::stop_token& stop) {
  if (*exists) {
    try {
      client_.Patch<Event>(event.metadata.namespace_name, event.metadata.name,
                           PatchType::kStrategicMerge, SeriesPatch(event), {},
                           stop);
      return;
    } catch (const ApiError& error) {
      // The server forgets events after a while.
      if (error.code() != 404) throw;
      *exists = false;
    }
  }
  client_.Create(event, stop);
  *exists = true;
}

}  // namespace minisched
