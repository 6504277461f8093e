#include "minisched/events/event_recorder.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <utility>
#include <vector>

#include "minisched/api/names.h"
#include "minisched/base/log.h"
#include "minisched/client/errors.h"

namespace minisched {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::size_t kMaxWriting = 10;
constexpr std::size_t kMaxWaiting = 50'000;
constexpr std::size_t kMaxSeries = 1000;
constexpr int kMaxTries = 12;
constexpr seconds kRetry{10};  // and up to a quarter more
constexpr minutes kFinish{6};
constexpr std::uint64_t kDropsPerWarning = 1000;
constexpr seconds kBetweenWrites{30};
constexpr seconds kFlush{5};
// NoteLengthLimit of kubernetes pkg/apis/core/validation/events.go.
constexpr std::size_t kMaxNote = 1024;

std::string HostName() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

// Follows truncateMessage() of kubernetes pkg/scheduler/schedule_one.go, but
// does not cut a UTF-8 character in two.
std::string Truncate(std::string_view note) {
  if (note.size() <= kMaxNote) return std::string(note);
  constexpr std::string_view kEnd = " ...";
  std::size_t size = kMaxNote - kEnd.size();
  const auto is_within = [note](std::size_t position) {
    return (static_cast<unsigned char>(note[position]) & 0xC0) == 0x80;
  };
  while (size > 0 && is_within(size)) --size;
  return std::string(note.substr(0, size)).append(kEnd);
}

}  // namespace

EventRecorder::EventRecorder(Client& client,
                             const std::string& reporting_controller)
    : reporting_controller_(reporting_controller),
      reporting_instance_(reporting_controller + "-" + HostName()),
      clock_(client.clock()),
      executor_(client.executor()),
      writer_(client),
      next_cleanup_(clock_.Now() + kFinish),
      cleanup_size_(kMaxSeries) {
  MutexLock lock(mu_);
  SetTimer();
}

EventRecorder::~EventRecorder() {
  Writes writes;
  {
    MutexLock lock(mu_);
    stopping_ = true;
    writes = TakeDue();
  }
  Start(writes);
  clock_.SleepFor(kFlush, flushed_.get_token());
  {
    MutexLock lock(mu_);
    if (const std::size_t left = waiting_.size() + writing_; left > 0) {
      spdlog::warn("no time left to write {} events", left);
    }
    waiting_.clear();
  }
  give_up_.request_stop();
  MutexLock lock(mu_);
  while (!IsIdle()) settled_.Wait(mu_);
}

void EventRecorder::Eventf(const ObjectReference& regarding,
                           const std::optional<ObjectReference>& related,
                           std::string_view type, std::string_view reason,
                           std::string_view action, std::string_view note) {
  if (type != "Normal" && type != "Warning") {
    spdlog::error("unsupported event type \"{}\"", type);
    return;
  }
  Key key(type, reason, action, Truncate(note), regarding, related);
  Writes writes;
  {
    MutexLock lock(mu_);
    const auto series = FindOrAdd(std::move(key));
    if (series == series_.end()) return;
    const Clock::TimePoint now = clock_.Now();
    series->second.seen = now;
    Await(series, std::max(now, series->second.next_write));
    writes = TakeDue();
  }
  Start(writes);
}

// Returns the series, with one more occurrence; the end if it is dropped.
EventRecorder::AllSeries::iterator EventRecorder::FindOrAdd(Key key) {
  auto found = series_.find(key);
  if (found != series_.end() && !found->second.pending &&
      clock_.Now() - found->second.seen >= kFinish) {
    series_.erase(found);
    found = series_.end();
  }
  if (found != series_.end()) {
    auto& repeats = found->second.event.series;
    if (!repeats) repeats = EventSeries{.count = 1};
    ++repeats->count;
    repeats->last_observed_time = MicroTime{clock_.WallNow()};
    return found;
  }
  if (waiting_.size() >= kMaxWaiting) {
    if (dropped_++ % kDropsPerWarning == 0) {
      spdlog::warn("too many events wait to be written: {} dropped so far",
                   dropped_);
    }
    return series_.end();
  }
  Event event = MakeEvent(key);
  const auto added = series_.emplace(std::move(key), Series{}).first;
  added->second.event = std::move(event);
  return added;
}

Event EventRecorder::MakeEvent(const Key& key) {
  Event event;
  std::tie(event.type, event.reason, event.action, event.note, event.regarding,
           event.related) = key;
  event.metadata.namespace_name = event.regarding.namespace_name.empty()
                                      ? "default"
                                      : event.regarding.namespace_name;
  event.metadata.name = MakeName(event.regarding.name);
  event.event_time = MicroTime{clock_.WallNow()};
  event.reporting_controller = reporting_controller_;
  event.reporting_instance = reporting_instance_;
  return event;
}

// Follows GenerateEventName() of client-go tools/record/util/util.go, but never
// returns a name twice.
std::string EventRecorder::MakeName(const std::string& regarding) {
  const auto now =
      std::chrono::nanoseconds(clock_.WallNow().time_since_epoch());
  last_stamp_ = std::max<std::int64_t>(now.count(), last_stamp_ + 1);
  char text[64];
  std::snprintf(text, sizeof text, ".%llx",
                static_cast<unsigned long long>(last_stamp_));
  std::string name = regarding + text;
  if (CheckDns1123Subdomain(name).empty()) return name;
  // The name would be too long, for example: make one in the form of a UUID.
  const auto high = static_cast<unsigned long long>(random_());
  const auto low = static_cast<unsigned long long>(random_());
  std::snprintf(text, sizeof text, "%08llx-%04llx-%04llx-%04llx-%012llx",
                high >> 32, high >> 16 & 0xFFFF, high & 0xFFFF, low >> 48,
                low & 0xFFFFFFFFFFFF);
  return text;
}

void EventRecorder::Await(AllSeries::iterator series, Clock::TimePoint when) {
  if (std::exchange(series->second.pending, true)) return;
  waiting_.insert({when, awaited_++, series});
}

EventRecorder::Writes EventRecorder::TakeDue() {
  const Clock::TimePoint now = clock_.Now();
  if (now >= next_cleanup_ || series_.size() > cleanup_size_) {
    ForgetOldSeries(now);
  }
  Writes writes;
  while (MayWrite()) {
    const Waiting next = *waiting_.begin();
    if (!stopping_ && std::max(next.when, not_before_) > now) break;
    waiting_.erase(waiting_.begin());
    ++writing_;
    const Series& it = next.series->second;
    writes.push_back(
        {next.series, std::make_shared<const Event>(it.event), it.exists});
  }
  SetTimer();
  if (stopping_ && IsIdle()) flushed_.request_stop();
  return writes;
}

bool EventRecorder::MayWrite() const {
  return !waiting_.empty() && writing_ < (server_is_away_ ? 1 : kMaxWriting);
}

void EventRecorder::SetTimer() {
  Clock::TimePoint next = next_cleanup_;
  if (MayWrite()) {
    next = std::min(next, std::max(waiting_.begin()->when, not_before_));
  }
  if (timer_is_set_) {
    if (timer_.time == next && !stopping_) return;
    // A timer that can't be cancelled is due: it comes back here.
    if (!executor_.Cancel(timer_)) return;
  }
  timer_is_set_ = !stopping_;
  if (timer_is_set_) {
    timer_ = executor_.PostAt(next, [this] { OnTimer(); });
  }
}

void EventRecorder::Start(const Writes& writes) {
  for (const Write& write : writes) {
    writer_.Write(write.event, write.exists, give_up_.get_token(),
                  [this, write](EventWriter::Outcome outcome, bool exists) {
                    OnWritten(write, outcome, exists);
                  });
  }
}

// The recorder may be destroyed as soon as the lock is released, unless there
// is something to start.
void EventRecorder::OnTimer() {
  Writes writes;
  {
    MutexLock lock(mu_);
    timer_is_set_ = false;
    writes = TakeDue();
    settled_.NotifyAll();
  }
  if (!writes.empty()) Start(writes);
}

// The same holds here.
void EventRecorder::OnWritten(const Write& write, EventWriter::Outcome outcome,
                              bool exists) {
  Writes writes;
  {
    MutexLock lock(mu_);
    --writing_;
    write.series->second.exists = exists;
    write.series->second.pending = false;
    Settle(write, outcome);
    writes = TakeDue();
    settled_.NotifyAll();
  }
  if (!writes.empty()) Start(writes);
}

void EventRecorder::Settle(const Write& write, EventWriter::Outcome outcome) {
  using Outcome = EventWriter::Outcome;
  const auto count = [](const Event& event) {
    return event.series ? event.series->count : 1;
  };
  Series& it = write.series->second;
  server_is_away_ = outcome == Outcome::kNoServer;
  if (!server_is_away_) not_before_ = {};
  switch (outcome) {
    case Outcome::kWritten:
      it.tries = 0;
      it.next_write = clock_.Now();
      if (write.event->series) it.next_write += kBetweenWrites;
      // What was recorded in the meantime.
      if (count(it.event) != count(*write.event)) {
        Await(write.series, it.next_write);
      }
      break;
    case Outcome::kRefused:
      // Remembered all the same, or each repeat would be sent at once.
      it.next_write = clock_.Now() + kBetweenWrites;
      break;
    case Outcome::kNoServer:
      if (stopping_) {
        spdlog::warn("failed to write the last {} events", waiting_.size() + 1);
        waiting_.clear();
      } else {
        not_before_ = TryAgain(write.series);
      }
      break;
    case Outcome::kTryLater:
      if (stopping_) it.tries = kMaxTries;
      TryAgain(write.series);
      break;
    case Outcome::kStopped:
      break;
  }
}

Clock::TimePoint EventRecorder::TryAgain(AllSeries::iterator series) {
  std::uniform_real_distribution<double> jitter(1, 1.25);
  const auto later = clock_.Now() + std::chrono::duration_cast<Clock::Duration>(
                                        kRetry * jitter(random_));
  Series& it = series->second;
  if (++it.tries < kMaxTries) {
    Await(series, later);
  } else {
    spdlog::error("giving up on the event \"{}: {}\" of {}", it.event.reason,
                  it.event.note, it.event.regarding.name);
    series_.erase(series);
  }
  return later;
}

// Forgets series that were quiet for six minutes. If there are many, forgets
// also the older half of those that were never repeated: each pod has one, when
// it is scheduled.
void EventRecorder::ForgetOldSeries(Clock::TimePoint now) {
  Clock::TimePoint once_until = now - kFinish;
  if (series_.size() > kMaxSeries) {
    std::vector<Clock::TimePoint> seen;
    for (const auto& [key, it] : series_) seen.push_back(it.seen);
    const auto middle = seen.begin() + static_cast<long>(seen.size() / 2);
    std::nth_element(seen.begin(), middle, seen.end());
    once_until = std::max(once_until, *middle);
  }
  std::erase_if(series_, [&](const auto& entry) {
    const Series& it = entry.second;
    return !it.pending &&
           it.seen <= (it.event.series ? now - kFinish : once_until);
  });
  next_cleanup_ = now + kFinish;
  // Not again at every event if many series stay.
  cleanup_size_ = std::max(kMaxSeries, 2 * series_.size());
}

}  // namespace minisched
