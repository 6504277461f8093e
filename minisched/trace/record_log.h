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

// How much a trace keeps.
struct TraceLimits {
  std::size_t records = 10'000;
  std::size_t attempts = 512;  // records, of which an attempt has one or two
  std::size_t nodes_per_attempt = 1'000;
  std::size_t bytes = 64 << 20;  // of these records together, estimated
};

// Holds the newest records of a trace, and the last record of the scheduler and
// of each pod that is neither bound nor gone, however old it is. Not
// thread-safe.
class RecordLog {
 public:
  explicit RecordLog(const TraceLimits& limits) : limits_(limits) {}

  // Adds a record and returns it with its sequence number. May remove older
  // records.
  const Record& Add(Record record);

  // Returns the last record of the attempt with this uid and number, or null.
  RecordPtr FindAttempt(const std::string& uid, int number) const;

  // Returns the records after this sequence number, in order. Records that were
  // removed are missing.
  std::vector<RecordPtr> After(std::uint64_t sequence) const;

  // Returns the last record of each pod, of each attempt and of the scheduler,
  // in order.
  std::vector<RecordPtr> LastOfEach() const;

  std::uint64_t last_sequence() const { return last_sequence_; }

 private:
  struct Entry {
    RecordPtr record;
    std::string key;  // what the record is about
    std::size_t bytes = 0;
  };
  using Entries = std::map<std::uint64_t, Entry>;  // by sequence number

  // Removes the oldest record of newest_, or moves it to kept_.
  void RetireOldest();
  void RemoveOldestAttempt();
  bool IsLast(const Entry& entry) const;
  // Removes a record of newest_.
  void Remove(Entries::iterator entry);

  const TraceLimits limits_;
  std::uint64_t last_sequence_ = 0;
  std::size_t bytes_ = 0;  // of newest_
  // Records older than all newest_, kept because their pod is still pending.
  Entries kept_;
  Entries newest_;
  // The sequence number of the last record by key.
  std::unordered_map<std::string, std::uint64_t> last_;
  std::set<std::uint64_t> attempts_;  // the sequence numbers of attempts
};

}  // namespace minisched
