#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "minisched/api/pod.h"
#include "minisched/base/clock.h"
#include "minisched/base/mutex.h"
#include "minisched/trace/pacer.h"
#include "minisched/trace/record_log.h"
#include "minisched/trace/records.h"

namespace minisched {

// What a scheduler reports of itself, in three calls: Moved(), Tried() and
// Paced(). Any number of TraceReaders read it. Thread-safe. Moved() and Tried()
// take no other lock and call nobody, so the caller may hold locks.
//
// A pod's moves are always recorded, because a reader that comes late has to
// learn where the pods are. An attempt is only described while a reader asks
// for attempts.
class Trace {
 public:
  // `scheduler_name` is the spec.schedulerName of the scheduler's pods. `clock`
  // must outlive the trace.
  explicit Trace(std::string scheduler_name, Clock& clock = RealClock(),
                 const TraceLimits& limits = {});

  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  // Records that a pod came to a place. Call it where kube-scheduler logs "Pod
  // moved to an internal scheduling queue", and for the places behind the
  // queue.
  void Moved(const Pod& pod, Place place, Move move = {}) EXCLUDES(mu_);

  // Records the Attempt that `describe` returns. Call it at the end of a
  // scheduling cycle, with the nodes or at least the filter plugins, and again
  // at the end of its binding cycle without them: then `points` are appended to
  // those of the first call, `node` and `failure` replace them. The calls for
  // one attempt must not overlap. Calls `describe` only if a reader asks for
  // attempts.
  template <std::invocable Describe>
  void Tried(const Describe& describe) EXCLUDES(mu_) {
    if (attempt_readers_.load(std::memory_order_relaxed) > 0) Add(describe());
  }

  // True if a reader asks for all objections to each node in failed attempts,
  // not only for the first ones.
  bool wants_all_objections() const {
    return all_objections_readers_.load(std::memory_order_relaxed) > 0;
  }

  // Calls `pop`, which returns the next pod in an optional, and returns its
  // result. Blocks before the call while the scheduler is paused, and once more
  // after it: a pause that began during the call holds the popped pod. Returns
  // an empty optional as soon as `stop` asks to stop.
  template <std::invocable Pop>
  std::invoke_result_t<Pop> Paced(const Pop& pop, const std::stop_token& stop) {
    if (!pacer_.AwaitStep(stop)) return {};
    auto popped = pop();
    if (popped && !pacer_.TakeStep(stop)) return {};
    return popped;
  }

  // Returns the time of day by the trace's clock.
  Time Now() const { return clock_.WallNow(); }

  // Resume() lets the scheduler run, as it does at first. Pause() holds it
  // before its next pod. Step() pauses it and lets it take one pod.
  void Resume() EXCLUDES(mu_);
  void Pause() EXCLUDES(mu_);
  void Step() EXCLUDES(mu_);

 private:
  friend class TraceReader;

  void Add(Attempt report) EXCLUDES(mu_);
  // Returns the earlier report of the same attempt with what `report` adds.
  Attempt AddToEarlier(Attempt report) EXCLUDES(mu_);
  void AddRecord(decltype(Record::state) state) REQUIRES(mu_);
  void ReportScheduler() REQUIRES(mu_);

  const std::string scheduler_name_;
  Clock& clock_;
  const TraceLimits limits_;
  Pacer pacer_;
  std::atomic<int> attempt_readers_ = 0;
  std::atomic<int> all_objections_readers_ = 0;
  mutable Mutex mu_;
  CondVar added_;
  RecordLog log_ GUARDED_BY(mu_);
};

// What a reader asks for besides the moves of pods.
enum class AttemptDetail {
  kNone,             // no attempts
  kFirstObjections,  // attempts, with the first objection to each node
  kAllObjections     // and in failed attempts all others
};

// Reads a trace: first the last record of each thing as the reader was made,
// then each later record. A reader that is much slower than the scheduler
// misses records, which the sequence numbers show, but never the last one of a
// pending pod. Used by one thread at a time.
class TraceReader {
 public:
  // `trace` must outlive the reader.
  explicit TraceReader(Trace& trace,
                       AttemptDetail detail = AttemptDetail::kNone);
  ~TraceReader();

  TraceReader(const TraceReader&) = delete;
  TraceReader& operator=(const TraceReader&) = delete;

  // Returns the records since the last call, in order. Blocks until there is
  // one. Returns none if there is none and `stop` asked to stop.
  std::vector<RecordPtr> Next(const std::stop_token& stop);
  // Returns them without blocking; none if there is none.
  std::vector<RecordPtr> Poll();

 private:
  std::vector<RecordPtr> Take() REQUIRES(trace_.mu_);

  Trace& trace_;
  const AttemptDetail detail_;
  std::vector<RecordPtr> first_;  // what the first call returns
  std::uint64_t sequence_;        // of the last record that was returned
};

}  // namespace minisched
