#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "minisched/api/pod.h"
#include "minisched/base/clock.h"
#include "minisched/base/mutex.h"
#include "minisched/trace/pacer.h"
#include "minisched/trace/record_log.h"
#include "minisched/trace/records.h"

namespace minisched {

// The reports of a scheduler on its own work. The scheduler calls Moved() and
// Paced(), makes an AttemptReport for each attempt, which calls Tried(), and
// offers functions to readers: see Offer. Any number of TraceReaders read the
// trace.
//
// Thread-safe. The caller of Moved() and Tried() may hold locks: both take the
// trace's lock only. Before they take it, Moved() calls the observer, and
// Tried() calls `describe`. The observer and `describe` may take further locks,
// but none that the caller holds. The functions of an offer may take locks of
// the scheduler, so the callers of ActiveOrder(), ReportQueue() and EndWait()
// must hold none of these.
//
// Moves of pods are always recorded, because a reader that is made later needs
// the place of each pod. Attempts are described only while a reader asks for
// attempts. After KeepFailures(), failed ones are always described.
class Trace {
 public:
  // Receives each move.
  using MoveObserver = std::function<void(const Pod&, Place, const Move&)>;

  // Receives a plugin and the number of nodes that it has scored for a pod with
  // this spec.schedulerName.
  using ScoreObserver =
      std::function<void(const std::string& scheduler_name,
                         std::string_view plugin, std::size_t nodes)>;

  // `scheduler_name` is the spec.schedulerName of the scheduler's pods. `clock`
  // must outlive the trace. Moved() calls `on_moved`, if there is one, on the
  // thread of its caller. `on_moved` must be thread-safe and fast, since the
  // callers of Moved() may hold locks. `program` is the scheduler's program,
  // such as "minisched-13". Scored() calls `on_scored`, if there is one.
  explicit Trace(std::string scheduler_name, Clock& clock = RealClock(),
                 const TraceLimits& limits = {}, MoveObserver on_moved = {},
                 std::string program = "", ScoreObserver on_scored = {});

  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  // Records that a pod came to a place. Call Moved() where kube-scheduler logs
  // "Pod moved to an internal scheduling queue", and where a pod comes to a
  // place after the queue, such as "bound".
  void Moved(const Pod& pod, Place place, Move move = {}) EXCLUDES(mu_);

  // Records the Attempt that `describe` returns. Calls `describe` only if a
  // reader asks for attempts, or if the attempt has `failed` after
  // KeepFailures().
  //
  // At the end of a scheduling cycle, call Tried() with the nodes or at least
  // the filter plugins. At the end of the binding cycle, call Tried() again,
  // without nodes and filter plugins: the second call appends to `points` and
  // replaces `node` and `failure`. The calls for one attempt must not overlap.
  template <std::invocable Describe>
  void Tried(const Describe& describe, bool failed = false) EXCLUDES(mu_) {
    const bool is_read = has_attempt_readers();
    if (is_read || (failed && keeps_failures_)) Add(describe(), is_read);
  }

  // Reports that a plugin has scored nodes, whether or not anybody reads
  // attempts.
  void Scored(const std::string& scheduler_name, std::string_view plugin,
              std::size_t nodes) const {
    if (on_scored_) on_scored_(scheduler_name, plugin, nodes);
  }

  // Keeps the last attempt of each pending pod from now on, if it failed, for
  // readers that are made later. TraceLimits has the limit.
  void KeepFailures() { keeps_failures_ = true; }
  bool keeps_failures() const { return keeps_failures_; }

  // True if a reader asks for attempts.
  bool has_attempt_readers() const {
    return attempt_readers_.load(std::memory_order_relaxed) > 0;
  }
  // True if a reader asks for all rejections of each node in failed attempts,
  // not only for the first ones.
  bool wants_all_rejections() const {
    return all_rejections_readers_.load(std::memory_order_relaxed) > 0;
  }

  // Calls `pop`, which returns the next pod in an optional, and returns the
  // result of `pop`. While the scheduler is paused, blocks before the call and
  // also after the call: a pause that begins during `pop` holds the popped pod.
  // Returns an empty optional if `stop` asks to stop. Does not interrupt `pop`.
  template <std::invocable Pop>
  std::invoke_result_t<Pop> Paced(const Pop& pop, const std::stop_token& stop) {
    if (!pacer_.AwaitStep(stop)) return {};
    auto popped = pop();
    if (popped && !pacer_.TakeStep(stop)) return {};
    return popped;
  }

  // Returns the last record of each pod at one moment, in order. May omit pods
  // that are bound or gone.
  std::vector<RecordPtr> LastOfEachPod() const EXCLUDES(mu_);

  // Returns the last record of the attempt with this number of the pod with
  // this uid, or null.
  RecordPtr FindAttempt(const std::string& uid, int number) const EXCLUDES(mu_);

  // Functions of a scheduler that readers of the trace can call.
  class Offer;

  // Returns the first `count` pods of activeQ and its length. Empty if no
  // scheduler offers to return them.
  QueueRecord ActiveOrder(std::size_t count) const EXCLUDES(offer_mu_, mu_);
  // Records the order of activeQ, with the first 100 pods, if this order has
  // changed since its last record. No move causes such a record: a reader that
  // wants the order calls this function before it reads. Returns false if no
  // scheduler offers its order.
  bool ReportQueue() EXCLUDES(offer_mu_, mu_);
  // Ends a pod's wait on Permit: allows the pod for all plugins that it still
  // waits for, or rejects it. Returns false if the pod doesn't wait.
  bool EndWait(const std::string& uid, bool allow) EXCLUDES(offer_mu_, mu_);

  // Returns the time of day by the trace's clock.
  Time Now() const { return clock_.WallNow(); }

  // Resume() lets the scheduler run, which is the initial state. Pause() holds
  // the scheduler before its next pod. Step() pauses the scheduler and lets it
  // take one pod.
  void Resume() EXCLUDES(mu_);
  void Pause() EXCLUDES(mu_);
  void Step() EXCLUDES(mu_);

 private:
  friend class TraceReader;

  void Add(Attempt report, bool is_read) EXCLUDES(mu_);
  void AddRecord(decltype(Record::state) state, bool is_read = true)
      REQUIRES(mu_);
  void ReportScheduler() REQUIRES(mu_);

  const std::string scheduler_name_;
  const std::string program_;
  Clock& clock_;
  const TraceLimits limits_;
  const MoveObserver on_moved_;
  const ScoreObserver on_scored_;
  Pacer pacer_;
  std::atomic<int> attempt_readers_ = 0;
  std::atomic<int> all_rejections_readers_ = 0;
  std::atomic<bool> keeps_failures_ = false;
  // Lock order: offer_mu_, the locks of the scheduler, mu_, the lock of pacer_.
  // offer_mu_ is held while a function of the offer runs.
  mutable Mutex offer_mu_;
  const Offer* offer_ GUARDED_BY(offer_mu_) = nullptr;
  QueueRecord last_order_ GUARDED_BY(offer_mu_);  // of the last record
  mutable Mutex mu_;
  CondVar added_;
  RecordLog log_ GUARDED_BY(mu_);
};

// The functions of a scheduler that readers of the trace can call while the
// object exists. The scheduler has it as a member, declared after what the
// functions use. The newest offer of a trace counts.
class Trace::Offer {
 public:
  // Returns the first `count` pods of activeQ and its length.
  using ActiveOrder = std::function<QueueRecord(std::size_t count)>;
  // What Trace::EndWait() does.
  using EndWait = std::function<bool(const std::string& uid, bool allow)>;

  // The functions are called on other threads, one call at a time. They may
  // call Trace::Moved() and take locks. Without `end_wait`, no pod waits on
  // Permit. `trace` must outlive the offer.
  Offer(Trace& trace, ActiveOrder active_order, EndWait end_wait = {});
  // Blocks until a call under way has returned. So the caller must hold no lock
  // that a function takes.
  ~Offer();

  Offer(const Offer&) = delete;
  Offer& operator=(const Offer&) = delete;

 private:
  friend class Trace;

  Trace& trace_;
  const ActiveOrder active_order_;
  const EndWait end_wait_;
};

// What a reader asks for besides the moves of pods.
enum class AttemptDetail {
  kNone,             // no attempts
  kFirstRejections,  // attempts, with the first rejection of each node
  kAllRejections     // the same, with all rejections in failed attempts
};

// The records that a reader returns first.
enum class TraceStart {
  // The last record of each pod, of each attempt, of activeQ and of the
  // scheduler.
  kLastOfEach,
  kOldest  // all records that the trace still has
};

// Reads a trace. First returns the earlier records that `start` selects, as of
// the time when the reader was made, and then each later record. A reader that
// is much slower than the scheduler misses records: the sequence numbers have
// gaps. Such a reader never misses the last record of a pending pod, but may
// miss that a pod was bound or is gone. For one thread at a time.
class TraceReader {
 public:
  // `trace` must outlive the reader.
  explicit TraceReader(Trace& trace,
                       AttemptDetail detail = AttemptDetail::kNone,
                       TraceStart start = TraceStart::kLastOfEach);
  ~TraceReader();

  TraceReader(const TraceReader&) = delete;
  TraceReader& operator=(const TraceReader&) = delete;

  // Returns the records since the last call, in order. Blocks until there is a
  // record. Returns an empty vector if there is no record and `stop` asks to
  // stop.
  std::vector<RecordPtr> Next(const std::stop_token& stop);
  // Returns the records since the last call without blocking.
  std::vector<RecordPtr> Poll();

  // Returns how many records the last call of Next() or Poll() missed, because
  // the reader was too slow.
  std::uint64_t missing() const { return missing_; }

 private:
  std::vector<RecordPtr> Take() REQUIRES(trace_.mu_);

  Trace& trace_;
  const AttemptDetail detail_;
  std::vector<RecordPtr> first_;  // the earlier records, for the first call
  std::uint64_t sequence_;        // of the last record returned so far
  std::uint64_t missing_ = 0;
};

}  // namespace minisched
