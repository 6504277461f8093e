#include "minisched/events/event_recorder.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <utility>
#include <vector>

#include "minisched/api/names.h"
#include "minisched/client/errors.h"

namespace minisched {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::size_t kMaxWaiting = 1000;
constexpr std::size_t kMaxSeries = 1000;
constexpr int kMaxTries = 12;
constexpr seconds kRetry{10};  // and up to a quarter more
constexpr minutes kFinish{6};
constexpr seconds kBetweenWrites{30};
constexpr seconds kFlush{5};
// NoteLengthLimit of kubernetes pkg/apis/core/validation/events.go.
constexpr std::size_t kMaxNote = 1024;

std::string HostName() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

// As truncateMessage() of kubernetes pkg/scheduler/schedule_one.go, but never
// within a character of UTF-8.
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
                             const std::string& reporting_controller,
                             Clock& clock)
    : reporting_controller_(reporting_controller),
      reporting_instance_(reporting_controller + "-" + HostName()),
      clock_(clock),
      writer_(client),
      next_cleanup_(clock.Now() + kFinish),
      cleanup_size_(kMaxSeries),
      thread_([this](const std::stop_token& stop) { Run(stop); }) {}

EventRecorder::~EventRecorder() {
  thread_.request_stop();
  clock_.SleepFor(kFlush, done_.get_token());
  give_up_.request_stop();
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
  std::stop_source wake;
  {
    MutexLock lock(mu_);
    const Clock::TimePoint now = clock_.Now();
    auto series = series_.find(key);
    if (series != series_.end() && !series->second.waits &&
        now - series->second.seen >= kFinish) {
      series_.erase(series);
      series = series_.end();
    }
    if (series == series_.end()) {
      if (waiting_.size() >= kMaxWaiting) {
        if (dropped_++ % kMaxWaiting == 0) {
          spdlog::warn("too many events wait to be written: dropped {} by now",
                       dropped_);
        }
        return;
      }
      Event event = MakeEvent(key);
      series = series_.emplace(std::move(key), Series{}).first;
      series->second.event = std::move(event);
    } else {
      auto& repeats = series->second.event.series;
      if (!repeats) repeats = EventSeries{.count = 1};
      ++repeats->count;
      repeats->last_observed_time = MicroTime{clock_.WallNow()};
    }
    series->second.seen = now;
    Await(series, std::max(now, series->second.next_write));
    wake = wake_;
  }
  wake.request_stop();
}

std::uint64_t EventRecorder::dropped() const {
  MutexLock lock(mu_);
  return dropped_;
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

// Follows GenerateEventName() of client-go tools/record/util/util.go, but gives
// no name twice.
std::string EventRecorder::MakeName(const std::string& regarding) {
  const auto now =
      std::chrono::nanoseconds(clock_.WallNow().time_since_epoch());
  last_stamp_ = std::max<std::int64_t>(now.count(), last_stamp_ + 1);
  char text[64];
  std::snprintf(text, sizeof text, ".%llx",
                static_cast<unsigned long long>(last_stamp_));
  std::string name = regarding + text;
  if (CheckDns1123Subdomain(name).empty()) return name;
  // Too long, for example. As good as any, and the same shape as a UUID.
  const auto high = static_cast<unsigned long long>(random_());
  const auto low = static_cast<unsigned long long>(random_());
  std::snprintf(text, sizeof text, "%08llx-%04llx-%04llx-%04llx-%012llx",
                high >> 32, high >> 16 & 0xFFFF, high & 0xFFFF, low >> 48,
                low & 0xFFFFFFFFFFFF);
  return text;
}

void EventRecorder::Await(AllSeries::iterator series, Clock::TimePoint when) {
  if (std::exchange(series->second.waits, true)) return;
  waiting_.insert({when, awaited_++, series});
}

void EventRecorder::Run(const std::stop_token& stop) {
  const std::stop_callback wake_up(stop, [this] {
    std::stop_source wake;
    {
      MutexLock lock(mu_);
      wake = wake_;
    }
    wake.request_stop();
  });
  try {
    while (true) {
      const bool stopping = stop.stop_requested();
      if (const auto series = Take(stopping)) {
        Write(*series, stop);
      } else if (stopping) {
        break;
      } else {
        Sleep(stop);
      }
    }
  } catch (const Cancelled&) {
    MutexLock lock(mu_);
    spdlog::warn("no time left to write {} events", waiting_.size() + 1);
  }
  done_.request_stop();
}

std::optional<EventRecorder::AllSeries::iterator> EventRecorder::Take(
    bool stopping) {
  MutexLock lock(mu_);
  const Clock::TimePoint now = clock_.Now();
  if (now >= next_cleanup_ || series_.size() > cleanup_size_) {
    ForgetOldSeries(now);
  }
  if (waiting_.empty()) return std::nullopt;
  const Waiting next = *waiting_.begin();
  if (!stopping && std::max(next.when, not_before_) > now) return std::nullopt;
  waiting_.erase(waiting_.begin());
  return next.series;
}

void EventRecorder::Write(AllSeries::iterator series,
                          const std::stop_token& stop) {
  Event event;
  bool exists = false;
  {
    MutexLock lock(mu_);
    event = series->second.event;
    exists = series->second.exists;
  }
  const auto outcome = writer_.Write(event, &exists, give_up_.get_token());
  MutexLock lock(mu_);
  series->second.exists = exists;
  series->second.waits = false;
  Settle(series, event, outcome, stop.stop_requested());
}

void EventRecorder::Settle(AllSeries::iterator series, const Event& written,
                           EventWriter::Outcome outcome, bool stopping) {
  using Outcome = EventWriter::Outcome;
  const auto count = [](const Event& event) {
    return event.series ? event.series->count : 1;
  };
  Series& it = series->second;
  switch (outcome) {
    case Outcome::kWritten:
      it.tries = 0;
      it.next_write = clock_.Now();
      if (written.series) it.next_write += kBetweenWrites;
      // What was said in the meantime.
      if (count(it.event) != count(written)) Await(series, it.next_write);
      break;
    case Outcome::kRefused:
      // Remembered all the same, or each repeat would start anew.
      it.next_write = clock_.Now() + kBetweenWrites;
      break;
    case Outcome::kNoServer:
      if (stopping) {
        spdlog::warn("could not write the last {} events", waiting_.size() + 1);
        waiting_.clear();
      } else {
        not_before_ = TryAgain(series);
      }
      break;
    case Outcome::kTryLater:
      if (stopping) it.tries = kMaxTries;
      TryAgain(series);
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

// After six minutes, or, where there are many, earlier: of what was said once,
// as of each pod that it is scheduled, the older half is forgotten.
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
    return !it.waits &&
           it.seen <= (it.event.series ? now - kFinish : once_until);
  });
  next_cleanup_ = now + kFinish;
  // Not at every event, where many are there to stay.
  cleanup_size_ = std::max(kMaxSeries, 2 * series_.size());
}

void EventRecorder::Sleep(const std::stop_token& stop) {
  Clock::TimePoint until;
  std::stop_token woken;
  {
    MutexLock lock(mu_);
    wake_ = std::stop_source();
    woken = wake_.get_token();
    until = next_cleanup_;
    if (!waiting_.empty()) {
      until = std::min(until, std::max(waiting_.begin()->when, not_before_));
    }
  }
  // A stop that came before wake_ was new has not ended it.
  if (!stop.stop_requested()) clock_.SleepUntil(until, woken);
}

}  // namespace minisched
