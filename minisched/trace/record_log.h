#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "minisched/trace/records.h"

namespace minisched {

// The limits of what a trace keeps. `records` and `bytes` don't count the old
// records that a trace keeps because their pods are still pending.
struct TraceLimits {
  std::size_t records = 10'000;
  std::size_t attempts = 512;  // attempt records; an attempt has one or two
  std::size_t nodes_per_attempt = 1'000;
  std::size_t bytes = 64 << 20;  // the estimated memory of the records
};

// Holds the newest records of a trace. Also holds the last record of the
// scheduler, of activeQ, and of each pod that is neither bound nor gone,
// however old that record is. Not thread-safe.
class RecordLog {
 public:
  explicit RecordLog(const TraceLimits& limits) : limits_(limits) {}

  // Adds a record and returns it with its sequence number. May remove older
  // records.
  const Record& Add(Record record);

  // Returns the last record of the attempt with this number of the pod with
  // this uid, or null.
  RecordPtr FindAttempt(const std::string& uid, int number) const;

  // Returns the records after this sequence number, in order, without those
  // that the log has removed.
  std::vector<RecordPtr> After(std::uint64_t sequence) const;

  // Returns the last record of each pod, of each attempt, of activeQ and of the
  // scheduler, in order.
  std::vector<RecordPtr> LastOfEach() const;

  std::uint64_t last_sequence() const { return last_sequence_; }

 private:
  struct Entry {
    RecordPtr record;
    std::string key;  // identifies the pod or the attempt, or names the kind
    std::size_t bytes = 0;
  };
  using Entries = std::map<std::uint64_t, Entry>;  // by sequence number

  // Moves the oldest record of newest_ to kept_, or removes it.
  void RetireOldest();
  void RemoveOldestAttempt();
  // True if no later record has the same key.
  bool IsLast(const Entry& entry) const;
  // Removes a record of newest_.
  void Remove(Entries::iterator entry);

  const TraceLimits limits_;
  std::uint64_t last_sequence_ = 0;
  std::size_t bytes_ = 0;  // of newest_
  // The last records of pending pods, of activeQ and of the scheduler that are
  // older than all records of newest_.
  Entries kept_;
  Entries newest_;
  // The sequence number of the last record for each key.
  std::unordered_map<std::string, std::uint64_t> last_;
  std::set<std::uint64_t> attempts_;  // the sequence numbers of attempts
};

}  // namespace minisched
