#include "minisched/trace/trace.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <utility>

namespace minisched {
namespace {

// The highest number of pods in a record of activeQ.
constexpr std::size_t kRecordedOrder = 100;

template <class T>
void Append(std::vector<T>& to, std::vector<T> from) {
  if (to.empty()) {
    to = std::move(from);
    return;
  }
  to.insert(to.end(), std::make_move_iterator(from.begin()),
            std::make_move_iterator(from.end()));
}

// Sets all_nodes, feasible_nodes and reasons of the attempt.
void CountNodes(Attempt& attempt) {
  std::map<std::pair<std::string_view, std::string_view>, std::size_t> counts;
  for (const RejectedNode& node : attempt.rejected) {
    const Rejection& first = node.rejections.front();
    for (const std::string& reason : first.reasons) {
      ++counts[{first.plugin, reason}];
    }
  }
  attempt.feasible_nodes = attempt.fits.size();
  attempt.all_nodes = attempt.fits.size() + attempt.rejected.size();
  for (const auto& [why, count] : counts) {
    const auto& [plugin, reason] = why;
    attempt.reasons.push_back({.plugin = std::string(plugin),
                               .reason = std::string(reason),
                               .nodes = count});
  }
}

template <class T>
void KeepFirst(SharedList<T>& list, std::size_t count) {
  if (list.size() <= count) return;
  list = std::vector<T>(list.begin(), list.begin() + count);
}

// Keeps `count` nodes, first those that the pod fits, and their scores.
void KeepNodes(Attempt& attempt, std::size_t count) {
  if (attempt.fits.size() > count) {
    std::vector<ScoreColumn> scores = attempt.scores.get();
    for (ScoreColumn& column : scores) {
      column.raw.resize(count);
      column.normalized.resize(count);
    }
    attempt.scores = std::move(scores);
  }
  KeepFirst(attempt.fits, count);
  KeepFirst(attempt.rejected, count - attempt.fits.size());
}

// Returns the attempt extended by a later report.
Attempt Join(Attempt attempt, Attempt report) {
  Append(attempt.points, std::move(report.points));
  attempt.node = std::move(report.node);
  attempt.failure = std::move(report.failure);
  return attempt;
}

}  // namespace

Trace::Trace(std::string scheduler_name, Clock& clock,
             const TraceLimits& limits, MoveObserver on_moved,
             std::string program, ScoreObserver on_scored)
    : scheduler_name_(std::move(scheduler_name)),
      program_(std::move(program)),
      clock_(clock),
      limits_(limits),
      on_moved_(std::move(on_moved)),
      on_scored_(std::move(on_scored)),
      log_(limits) {
  MutexLock lock(mu_);
  ReportScheduler();
}

void Trace::Moved(const Pod& pod, Place place, Move move) {
  if (on_moved_) on_moved_(pod, place, move);
  PodRecord record{.pod = ObjectName(pod.metadata),
                   .uid = pod.metadata.uid,
                   .place = place,
                   .move = std::move(move)};
  if (record.move.until) {
    record.until = clock_.WallNow() +
                   std::chrono::duration_cast<std::chrono::microseconds>(
                       *record.move.until - clock_.Now());
  }
  MutexLock lock(mu_);
  AddRecord(std::move(record));
}

void Trace::Add(Attempt report, bool is_read) {
  if (report.filters.empty() && report.fits.empty() &&
      report.rejected.empty()) {
    const RecordPtr earlier = FindAttempt(report.uid, report.number);
    if (earlier) {
      report = Join(std::get<Attempt>(earlier->state), std::move(report));
    } else if (!report.points.empty() && report.failure.empty()) {
      return;  // No reader asked for the report that this one extends.
    }
  } else {
    CountNodes(report);
  }
  KeepNodes(report, limits_.nodes_per_attempt);
  ++report.reports;
  MutexLock lock(mu_);
  AddRecord(std::move(report), is_read);
}

RecordPtr Trace::FindAttempt(const std::string& uid, int number) const {
  MutexLock lock(mu_);
  return log_.FindAttempt(uid, number);
}

QueueRecord Trace::ActiveOrder(std::size_t count) const {
  MutexLock lock(offer_mu_);
  return offer_ == nullptr ? QueueRecord() : offer_->active_order_(count);
}

bool Trace::ReportQueue() {
  MutexLock offer_lock(offer_mu_);
  if (offer_ == nullptr) return false;
  QueueRecord order = offer_->active_order_(kRecordedOrder);
  if (order == last_order_) return true;
  last_order_ = order;
  MutexLock lock(mu_);
  AddRecord(std::move(order));
  return true;
}

bool Trace::EndWait(const std::string& uid, bool allow) {
  MutexLock lock(offer_mu_);
  return offer_ != nullptr && offer_->end_wait_ &&
         offer_->end_wait_(uid, allow);
}

Trace::Offer::Offer(Trace& trace, ActiveOrder active_order, EndWait end_wait)
    : trace_(trace),
      active_order_(std::move(active_order)),
      end_wait_(std::move(end_wait)) {
  MutexLock lock(trace_.offer_mu_);
  trace_.offer_ = this;
}

Trace::Offer::~Offer() {
  MutexLock lock(trace_.offer_mu_);
  if (trace_.offer_ == this) trace_.offer_ = nullptr;
}

std::vector<RecordPtr> Trace::LastOfEachPod() const {
  std::vector<RecordPtr> records;
  {
    MutexLock lock(mu_);
    records = log_.LastOfEach();
  }
  std::erase_if(records, [](const RecordPtr& record) {
    return !std::holds_alternative<PodRecord>(record->state);
  });
  return records;
}

void Trace::AddRecord(decltype(Record::state) state, bool is_read) {
  Record record{.time = clock_.WallNow(), .state = std::move(state)};
  if (is_read) {
    log_.Add(std::move(record));
  } else {
    log_.AddUnread(std::move(record));
  }
  added_.NotifyAll();
}

void Trace::Resume() {
  MutexLock lock(mu_);
  pacer_.Resume();
  ReportScheduler();
}

void Trace::Pause() {
  MutexLock lock(mu_);
  pacer_.Pause();
  ReportScheduler();
}

void Trace::Step() {
  MutexLock lock(mu_);
  pacer_.Step();
  ReportScheduler();
}

void Trace::ReportScheduler() {
  AddRecord(SchedulerRecord{
      .name = scheduler_name_, .program = program_, .paused = pacer_.paused()});
}

TraceReader::TraceReader(Trace& trace, AttemptDetail detail, TraceStart start)
    : trace_(trace), detail_(detail) {
  if (detail_ != AttemptDetail::kNone) ++trace_.attempt_readers_;
  if (detail_ == AttemptDetail::kAllRejections) {
    ++trace_.all_rejections_readers_;
  }
  MutexLock lock(trace_.mu_);
  first_ = start == TraceStart::kOldest ? trace_.log_.After(0)
                                        : trace_.log_.LastOfEach();
  sequence_ = trace_.log_.last_sequence();
}

TraceReader::~TraceReader() {
  if (detail_ != AttemptDetail::kNone) --trace_.attempt_readers_;
  if (detail_ == AttemptDetail::kAllRejections) {
    --trace_.all_rejections_readers_;
  }
}

std::vector<RecordPtr> TraceReader::Next(const std::stop_token& stop) {
  MutexLock lock(trace_.mu_);
  while (first_.empty() && trace_.log_.last_sequence() == sequence_ &&
         !stop.stop_requested()) {
    trace_.added_.Wait(trace_.mu_, stop);
  }
  return Take();
}

std::vector<RecordPtr> TraceReader::Poll() {
  MutexLock lock(trace_.mu_);
  return Take();
}

std::vector<RecordPtr> TraceReader::Take() {
  std::vector<RecordPtr> later = trace_.log_.After(sequence_);
  const std::uint64_t last = trace_.log_.last_sequence();
  missing_ = last - sequence_ - later.size();
  sequence_ = last;
  auto records = std::exchange(first_, {});
  Append(records, std::move(later));
  return records;
}

}  // namespace minisched
