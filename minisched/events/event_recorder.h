#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "minisched/api/event.h"
#include "minisched/api/reference.h"
#include "minisched/base/clock.h"
#include "minisched/base/executor.h"
#include "minisched/base/mutex.h"
#include "minisched/client/client.h"
#include "minisched/events/event_writer.h"

namespace minisched {

// Records events (events.k8s.io/v1) of objects, for `kubectl describe` and
// `kubectl events`. Writes them without blocking its callers: on its client's
// executor, up to ten at once. Thread-safe. Follows client-go
// tools/events/event_broadcaster.go.
//
// An event that is recorded again within six minutes becomes a series: one
// event with a count and the time of the last occurrence. The first repeat is
// written at once, later ones at most every 30 s, and the last one always. Two
// writes of one series are never under way at once.
//
// When the server can't be reached or answers 429 or 5xx, an event is tried 12
// times, 10 s apart. While the server can't be reached, one write at a time
// finds out whether it is back. A refused event is tried again when it is
// repeated, after 30 s at the earliest.
//
// Up to 50,000 series wait to be written, in about 100 MB. More are dropped,
// with a warning. Of more than 1,000 series, those that were never repeated are
// forgotten before their six minutes: their next repeat starts a new series.
//
// Different from client-go:
// - A different note makes a different series. In client-go, the note does not
//   count; but the version of the object does, so that a pod whose condition
//   changes gets a new event.
// - In client-go, the count on the server grows every half an hour, or when the
//   series is over.
// - In client-go, a 429 or 5xx is final.
// - client-go queues 1,000 events, and writes each on a goroutine of its own.
class EventRecorder {
 public:
  // `reporting_controller` names the program, such as "default-scheduler"; the
  // reporting instance is that name and the name of this machine. Give the
  // recorder a client of its own: events are many, and count against the
  // client's rate limit. The recorder uses the client's clock. `client` must
  // outlive the recorder.
  EventRecorder(Client& client, const std::string& reporting_controller);

  // Tries to write each event that waits once, for at most 5 s. REQUIRES: the
  // caller is not on the client's executor.
  ~EventRecorder();

  EventRecorder(const EventRecorder&) = delete;
  EventRecorder& operator=(const EventRecorder&) = delete;

  // Records that `action` ("Binding") on the object `regarding` had the outcome
  // `reason` ("Scheduled"). `type` is "Normal" or "Warning". A note of more
  // than 1,024 bytes is cut off. Does not block. The event is in the namespace
  // of the object, or in "default" if the object has none.
  void Eventf(const ObjectReference& regarding,
              const std::optional<ObjectReference>& related,
              std::string_view type, std::string_view reason,
              std::string_view action, std::string_view note) EXCLUDES(mu_);

 private:
  friend struct EventRecorderPeer;  // for tests

  // Identity of a series: type, reason, action, note, regarding, related.
  using Key = std::tuple<std::string, std::string, std::string, std::string,
                         ObjectReference, std::optional<ObjectReference>>;

  struct Series {
    Event event;
    bool exists = false;   // on the server, as far as known
    bool pending = false;  // in waiting_, or being written
    int tries = 0;         // that failed
    Clock::TimePoint seen{};
    Clock::TimePoint next_write{};  // not before
  };
  // A map, because its iterators stay valid. A pending series is never erased.
  using AllSeries = std::map<Key, Series>;

  // A series that waits to be written.
  struct Waiting {
    Clock::TimePoint when;
    std::uint64_t order;  // of those with the same time
    AllSeries::iterator series;

    bool operator<(const Waiting& other) const {
      return std::tie(when, order) < std::tie(other.when, other.order);
    }
  };

  // A write to start, with the event as it is now.
  struct Write {
    AllSeries::iterator series;
    std::shared_ptr<const Event> event;
    bool exists;
  };
  using Writes = std::vector<Write>;

  AllSeries::iterator FindOrAdd(Key key) REQUIRES(mu_);
  Event MakeEvent(const Key& key) REQUIRES(mu_);
  std::string MakeName(const std::string& regarding) REQUIRES(mu_);
  void Await(AllSeries::iterator series, Clock::TimePoint when) REQUIRES(mu_);

  // Removes and returns the writes to start now. Sets the timer for the next
  // ones. Pass them to Start(), without the lock.
  Writes TakeDue() REQUIRES(mu_);
  bool MayWrite() const REQUIRES(mu_);
  void SetTimer() REQUIRES(mu_);
  void Start(const Writes& writes) EXCLUDES(mu_);

  // Run on the executor: at the time of the timer, and when a write has ended.
  void OnTimer() EXCLUDES(mu_);
  void OnWritten(const Write& write, EventWriter::Outcome outcome, bool exists)
      EXCLUDES(mu_);

  void Settle(const Write& write, EventWriter::Outcome outcome) REQUIRES(mu_);
  // Lets the series wait for its next try, or gives it up. Returns the time.
  Clock::TimePoint TryAgain(AllSeries::iterator series) REQUIRES(mu_);
  void ForgetOldSeries(Clock::TimePoint now) REQUIRES(mu_);
  bool IsIdle() const REQUIRES(mu_) { return writing_ == 0 && !timer_is_set_; }

  const std::string reporting_controller_;
  const std::string reporting_instance_;
  Clock& clock_;
  Executor& executor_;
  EventWriter writer_;
  std::stop_source give_up_;  // stops the writes under way
  std::stop_source flushed_;  // ends the wait of the destructor

  mutable Mutex mu_;
  CondVar settled_;  // a write has ended, or the timer
  AllSeries series_ GUARDED_BY(mu_);
  std::set<Waiting> waiting_ GUARDED_BY(mu_);
  std::uint64_t awaited_ GUARDED_BY(mu_) = 0;
  std::size_t writing_ GUARDED_BY(mu_) = 0;
  bool timer_is_set_ GUARDED_BY(mu_) = false;
  Executor::Timer timer_ GUARDED_BY(mu_);
  bool stopping_ GUARDED_BY(mu_) = false;  // the destructor runs
  // The last write did not reach the server: no write before this time.
  bool server_is_away_ GUARDED_BY(mu_) = false;
  Clock::TimePoint not_before_ GUARDED_BY(mu_){};
  std::uint64_t dropped_ GUARDED_BY(mu_) = 0;
  std::int64_t last_stamp_ GUARDED_BY(mu_) = 0;  // in a name
  // When to forget old series: at this time, or when there are more than that.
  Clock::TimePoint next_cleanup_ GUARDED_BY(mu_){};
  std::size_t cleanup_size_ GUARDED_BY(mu_);
  std::mt19937_64 random_ GUARDED_BY(mu_){std::random_device{}()};
};

}  // namespace minisched
