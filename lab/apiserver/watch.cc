#include "lab/apiserver/watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <utility>

#include "lab/apiserver/errors.h"
#include "lab/apiserver/schema/schema.h"

namespace minisched::apiserver {
namespace {

using std::chrono::seconds;

// The most events after the initial events that the queue may have.
constexpr std::size_t kMaxBehind = 2000;
constexpr std::size_t kReadBytes = 64 << 10;
constexpr seconds kBookmarkPeriod{60};
constexpr std::chrono::milliseconds kSlack{50};
// The longest timeout. A much longer timeout would overflow Time.
constexpr seconds kMaxTimeout = std::chrono::hours(1'000'000);

// Returns the timeout of the watch. If the client gives none, the timeout is
// random, from half an hour to an hour as upstream, so that not all watches end
// together.
seconds TimeoutOf(const ListOptions& options, std::mt19937_64& random) {
  const std::int64_t timeout = options.timeout_seconds.value_or(0);
  if (timeout > 0) return std::min(seconds(timeout), kMaxTimeout);
  return seconds(std::uniform_int_distribution<int>(1800, 3600)(random));
}

}  // namespace

Watch::Watch(Registry& registry, const ResourceRow& row, ListOptions options,
             Encoding encoding)
    : registry_(registry),
      row_(row),
      options_(std::move(options)),
      encoding_(std::move(encoding)),
      // kSlack lets a client with the same timeout end the watch first.
      deadline_(registry.loop().Now() + TimeoutOf(options_, registry.random()) +
                kSlack) {
  subscription_ = registry.store().Subscribe(
      CollectionOf(row),
      [this](const std::string&, const Event& event) { Add(event); });
  Start();
  limit_ = items_.size() + kMaxBehind;
  Tick();
}

void Watch::Start() {
  const std::uint64_t version = options_.resource_version.empty()
                                    ? 0
                                    : ParseVersion(options_.resource_version);
  const Store& store = registry_.store();
  const bool too_large = version > store.version();
  if (!too_large && options_.send_initial_events.value_or(version == 0)) {
    return StartWithState();
  }
  // Without a version and without initial events, the watch begins now.
  if (version == 0) return;
  const auto missed = store.Since(CollectionOf(row_), version);
  if (!missed) {
    const auto error = Expired(fmt::format("too {} resource version: {} ({})",
                                           too_large ? "large" : "old", version,
                                           store.version()));
    items_.push_back({"ERROR", std::make_shared<const Json>(error.ToJson())});
    ended_ = true;
    return;
  }
  for (const Event& event : *missed) Add(event);
}

void Watch::StartWithState() {
  for (const auto& [key, object] : registry_.store().All(CollectionOf(row_))) {
    if (options_.Matches(*object)) items_.push_back({"ADDED", object});
  }
  if (options_.send_initial_events && options_.bookmarks) {
    items_.push_back({"BOOKMARK", Bookmark(true)});
  }
}

void Watch::Add(const Event& event) {
  if (ended_) return;
  const bool is =
      event.type != Event::Type::kDeleted && options_.Matches(*event.object);
  const bool was = event.previous && options_.Matches(*event.previous);
  if (is) {
    Push(was ? "MODIFIED" : "ADDED", event.object);
  } else if (was && event.type == Event::Type::kDeleted) {
    Push("DELETED", event.object);
  } else if (was) {
    // The event has the last state that matched, with the version of the
    // change.
    Json last = *event.previous;
    last["metadata"]["resourceVersion"] = std::to_string(event.version);
    Push("DELETED", std::make_shared<const Json>(std::move(last)));
  }
}

void Watch::Push(std::string_view type, Object object) {
  items_.push_back({type, std::move(object)});
  if (limit_ > 0 && items_.size() > limit_) {
    items_.clear();
    ended_ = true;
  }
  Wake();
}

void Watch::Tick() {
  const auto left = deadline_ - registry_.loop().Now();
  const auto wait =
      std::clamp<Time::duration>(left, Time::duration(0), kBookmarkPeriod);
  registry_.loop().After(
      std::chrono::ceil<std::chrono::milliseconds>(wait),
      [weak = std::weak_ptr<Watch*>(self_)] {
        const auto self = weak.lock();
        if (!self || (*self)->ended_) return;
        Watch& watch = **self;
        if (watch.options_.bookmarks && watch.items_.empty()) {
          watch.Push("BOOKMARK", watch.Bookmark(false));
        }
        if (watch.registry_.loop().Now() < watch.deadline_) return watch.Tick();
        watch.ended_ = true;
        watch.Wake();
      });
}

Object Watch::Bookmark(bool initial_events_end) const {
  Json object = {
      {"apiVersion", row_.ApiVersion()},
      {"kind", row_.kind},
      {"metadata",
       {{"resourceVersion", std::to_string(registry_.store().version())}}}};
  if (initial_events_end) {
    object["metadata"]["annotations"] = {{"k8s.io/initial-events-end", "true"}};
  }
  return std::make_shared<const Json>(std::move(object));
}

bool Watch::Read(std::string& out) {
  const Time now = registry_.loop().Now();
  while (!items_.empty() && out.size() < kReadBytes) {
    const Item item = std::move(items_.front());
    items_.pop_front();
    out.append(R"({"type":")").append(item.type).append(R"(","object":)");
    const bool is_status = item.type == "ERROR";
    out += is_status ? Dump(*item.object)
                     : encoding_.Object(row_, item.object, now, first_);
    first_ = first_ && is_status;
    out += "}\n";
  }
  return !ended_ || !items_.empty();
}

}  // namespace minisched::apiserver
