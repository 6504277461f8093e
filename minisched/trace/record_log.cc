#include "minisched/trace/record_log.h"

#include <algorithm>
#include <utility>

namespace minisched {
namespace {

std::string AttemptKey(const std::string& uid, int number) {
  return "attempt " + std::to_string(number) + " " + uid;
}

std::string KeyOf(const Record& record) {
  if (const auto* pod = std::get_if<PodRecord>(&record.state)) {
    return "pod " + pod->uid;
  }
  if (const auto* attempt = std::get_if<Attempt>(&record.state)) {
    return AttemptKey(attempt->uid, attempt->number);
  }
  if (std::holds_alternative<QueueRecord>(record.state)) return "queue";
  return "scheduler";
}

// True if a later reader needs the record, however old the record is.
bool IsLasting(const Record& record) {
  if (const auto* pod = std::get_if<PodRecord>(&record.state)) {
    return pod->place != Place::kBound && pod->place != Place::kGone;
  }
  return !std::holds_alternative<Attempt>(record.state);
}

// The overhead of malloc() for each block, rounded up.
constexpr std::size_t kBlockBytes = 16;
// The size of a record's map nodes in RecordLog, and of its reference count.
constexpr std::size_t kNodesBytes = 168;
// The length of the longest text that a string stores without an allocation.
const std::size_t kInPlace = std::string().capacity();

// BytesOf() returns an estimate of the memory that a value owns, without the
// value's own size.
std::size_t BytesOf(const std::string& text) {
  return text.capacity() > kInPlace ? text.capacity() + kBlockBytes : 0;
}
template <class T>
std::size_t BytesOf(const std::vector<T>& values);
// Counts the elements for each record that shares them.
template <class T>
std::size_t BytesOf(const SharedList<T>& values) {
  return BytesOf(values.get());
}

std::size_t BytesOf(const Rejection& rejection) {
  return BytesOf(rejection.plugin) + BytesOf(rejection.reasons);
}
std::size_t BytesOf(std::int64_t /*number*/) { return 0; }
std::size_t BytesOf(const ScoreColumn& column) {
  return BytesOf(column.plugin) + BytesOf(column.raw) +
         BytesOf(column.normalized);
}
std::size_t BytesOf(const RejectedNode& node) {
  return BytesOf(node.node) + BytesOf(node.rejections);
}
std::size_t BytesOf(const PointResult& result) {
  return BytesOf(result.point) + BytesOf(result.plugin) +
         BytesOf(result.status) + BytesOf(result.message);
}
std::size_t BytesOf(const ReasonCount& count) {
  return BytesOf(count.plugin) + BytesOf(count.reason);
}
std::size_t BytesOf(const PodRecord& pod) {
  return BytesOf(pod.pod) + BytesOf(pod.uid) + BytesOf(pod.move.event) +
         BytesOf(pod.move.plugins) + BytesOf(pod.move.wakes) +
         BytesOf(pod.move.node);
}
std::size_t BytesOf(const Attempt& attempt) {
  return BytesOf(attempt.pod) + BytesOf(attempt.uid) +
         BytesOf(attempt.filters) + BytesOf(attempt.fits) +
         BytesOf(attempt.scores) + BytesOf(attempt.rejected) +
         BytesOf(attempt.points) + BytesOf(attempt.node) +
         BytesOf(attempt.failure) + BytesOf(attempt.reasons);
}
std::size_t BytesOf(const QueueRecord& queue) { return BytesOf(queue.active); }
std::size_t BytesOf(const SchedulerRecord& scheduler) {
  return BytesOf(scheduler.name) + BytesOf(scheduler.program);
}

template <class T>
std::size_t BytesOf(const std::vector<T>& values) {
  if (values.capacity() == 0) return 0;
  std::size_t bytes = values.capacity() * sizeof(T) + kBlockBytes;
  for (const T& value : values) bytes += BytesOf(value);
  return bytes;
}

}  // namespace

const Record& RecordLog::Add(Record record) {
  record.sequence = ++last_sequence_;
  const auto shared = std::make_shared<const Record>(std::move(record));
  Entry entry{.record = shared, .key = KeyOf(*shared)};
  entry.bytes = sizeof(Record) + sizeof(Entry) + kNodesBytes +
                2 * BytesOf(entry.key) +
                std::visit([](const auto& state) { return BytesOf(state); },
                           shared->state);
  const std::size_t bytes = entry.bytes;
  bytes_ += bytes;

  // kept_ has only last records, so remove the record that this one replaces.
  if (const auto last = last_.find(entry.key); last != last_.end()) {
    kept_.erase(last->second);
  }
  last_[entry.key] = last_sequence_;
  if (const auto* attempt = std::get_if<Attempt>(&shared->state)) {
    ForgetAttempt(attempt->uid);
    last_attempts_[attempt->uid] = last_sequence_;
    attempts_.insert(last_sequence_);
    attempt_bytes_ += bytes;
  } else if (const auto* pod = std::get_if<PodRecord>(&shared->state);
             pod != nullptr && !IsLasting(*shared)) {
    ForgetAttempt(pod->uid);
    last_attempts_.erase(pod->uid);
  }
  newest_.emplace(last_sequence_, std::move(entry));

  while (attempts_.size() > 1 && (attempts_.size() > limits_.attempts ||
                                  attempt_bytes_ > limits_.attempt_bytes)) {
    Retire(newest_.find(*attempts_.begin()));
  }
  while (newest_.size() > 1 &&
         (newest_.size() > limits_.records || bytes_ > limits_.bytes)) {
    RetireOldest();
  }
  return *shared;
}

RecordPtr RecordLog::FindAttempt(const std::string& uid, int number) const {
  const auto last = last_.find(AttemptKey(uid, number));
  if (last == last_.end()) return nullptr;
  const auto kept = kept_attempts_.find(last->second);
  return kept != kept_attempts_.end() ? kept->second.record
                                      : newest_.at(last->second).record;
}

std::vector<RecordPtr> RecordLog::After(std::uint64_t sequence) const {
  std::vector<RecordPtr> records;
  for (const Entries* entries : {&kept_, &kept_attempts_, &newest_}) {
    for (auto it = entries->upper_bound(sequence); it != entries->end(); ++it) {
      records.push_back(it->second.record);
    }
  }
  std::ranges::sort(records, {}, &Record::sequence);
  return records;
}

std::vector<RecordPtr> RecordLog::LastOfEach() const {
  std::vector<RecordPtr> records;
  for (const Entries* entries : {&kept_, &kept_attempts_, &newest_}) {
    for (const auto& [sequence, entry] : *entries) {
      if (IsLast(entry)) records.push_back(entry.record);
    }
  }
  std::ranges::sort(records, {}, &Record::sequence);
  return records;
}

bool RecordLog::IsLast(const Entry& entry) const {
  const auto last = last_.find(entry.key);
  return last != last_.end() && last->second == entry.record->sequence;
}

void RecordLog::RetireOldest() {
  const auto oldest = newest_.begin();
  if (IsLast(oldest->second) && IsLasting(*oldest->second.record)) {
    bytes_ -= oldest->second.bytes;
    kept_.insert(newest_.extract(oldest));
  } else {
    Retire(oldest);
  }
}

void RecordLog::Retire(Entries::iterator entry) {
  bytes_ -= entry->second.bytes;
  if (attempts_.erase(entry->first) > 0) attempt_bytes_ -= entry->second.bytes;
  const auto* attempt = std::get_if<Attempt>(&entry->second.record->state);
  const auto last = attempt == nullptr ? last_attempts_.end()
                                       : last_attempts_.find(attempt->uid);
  if (last == last_attempts_.end() || last->second != entry->first) {
    if (IsLast(entry->second)) last_.erase(entry->second.key);
    newest_.erase(entry);
    return;
  }
  kept_attempt_bytes_ += entry->second.bytes;
  kept_attempts_.insert(newest_.extract(entry));
  while (kept_attempt_bytes_ > limits_.kept_attempt_bytes) {
    const auto& oldest = *kept_attempts_.begin()->second.record;
    ForgetAttempt(std::string(std::get<Attempt>(oldest.state).uid));
  }
}

void RecordLog::ForgetAttempt(const std::string& uid) {
  const auto last = last_attempts_.find(uid);
  if (last == last_attempts_.end()) return;
  const auto kept = kept_attempts_.find(last->second);
  if (kept == kept_attempts_.end()) return;
  kept_attempt_bytes_ -= kept->second.bytes;
  if (IsLast(kept->second)) last_.erase(kept->second.key);
  last_attempts_.erase(last);
  kept_attempts_.erase(kept);
}

void RecordLog::AddUnread(Record record) {
  Add(std::move(record));
  const auto newest = newest_.find(last_sequence_);
  if (newest != newest_.end()) Retire(newest);
}

}  // namespace minisched
