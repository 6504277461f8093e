#include "lab/live/event_stream.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <utility>

namespace minisched::live {
namespace {

constexpr std::chrono::seconds kKeepAlive{15};
// About the most text of an array of items, unless it is the base.
constexpr std::size_t kMaxArrayBytes = 256 << 10;

// Returns the position in the id of an event of this run of the server.
std::optional<std::uint64_t> ParseId(const std::string& id,
                                     const std::string& boot) {
  if (!id.starts_with(boot + ".")) return std::nullopt;
  std::uint64_t position = 0;
  const char* const end = id.data() + id.size();
  const auto result =
      std::from_chars(id.data() + boot.size() + 1, end, position);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return position;
}

}  // namespace

EventStream::EventStream(const History& history, Options options, Clock& clock)
    : history_(history),
      options_(std::move(options)),
      clock_(clock),
      last_read_(clock.Now()) {
  const auto position = ParseId(options_.last_id, options_.boot);
  if (position && history_.From(*position, /*max_bytes=*/0)) {
    position_ = position;
    resumes_ = true;
  }
}

EventStream::~EventStream() {
  if (options_.on_end) options_.on_end(this);
}

bool EventStream::Read(std::string& out) {
  if (std::exchange(resumes_, false)) {
    AppendEvent(out, "resume", options_.start());
  }
  std::optional<History::Part> part;
  if (position_) part = history_.From(*position_, kMaxArrayBytes);
  if (!part) {
    // A page that has only a part of the base cannot resume.
    position_ = std::nullopt;
    AppendEvent(out, "start", options_.start());
    const History::Base base = history_.GetBase();
    for (const std::string& array : base.json) {
      if (&array == &base.json.back()) position_ = base.end;
      AppendEvent(out, "base", array);
    }
    part = history_.From(*position_, kMaxArrayBytes);
  }
  if (part && !part->json.empty()) {
    position_ = part->end;
    AppendEvent(out, "message", part->json);
  }
  if (out.empty() && IsQuiet()) out += ": the connection works\n\n";
  if (!out.empty()) last_read_ = clock_.Now();
  return true;
}

void EventStream::Wake() {
  if (on_ready && (position_ != history_.end() || IsQuiet())) on_ready();
}

bool EventStream::IsQuiet() const {
  return clock_.Now() - last_read_ >= kKeepAlive;
}

void EventStream::AppendEvent(std::string& out, const std::string& type,
                              const std::string& data) const {
  const std::string id =
      position_ ? fmt::format("{}.{}", options_.boot, *position_) : "";
  out += fmt::format("event: {}\nid: {}\ndata: {}\n\n", type, id, data);
}

}  // namespace minisched::live
