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

// The limits of what a trace keeps. All but the last one don't count the old
// records that a trace keeps because their pods are still pending.
struct TraceLimits {
  std::size_t records = 10'000;
  std::size_t attempts = 4'000;  // attempt records; an attempt has one or two
  std::size_t nodes_per_attempt = 1'000;
  std::size_t bytes = 64 << 20;  // the estimated memory of the records
  // The same, of the attempts among them. The rest is for the moves of pods.
  std::size_t attempt_bytes = 48 << 20;
  // The same, of the old attempts of pending pods: about 200 attempts with the
  // rejections of 250 nodes each.
  std::size_t kept_attempt_bytes = 16 << 20;
};

// Holds the newest records of a trace. Also holds the last record of the
// scheduler, of activeQ, and of each pod that is neither bound nor gone,
// however old that record is. Of these pods, also holds the last attempts, the
// newest ones up to a limit. Not thread-safe.
class RecordLog {
 public:
  explicit RecordLog(const TraceLimits& limits) : limits_(limits) {}

  // Adds a record and returns it with its sequence number. May remove older
  // records.
  const Record& Add(Record record);

  // Does the same for an attempt that nobody reads yet: holds it only while it
  // is the last attempt of a pending pod.
  void AddUnread(Record record);

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

  // Moves the oldest record of newest_ to kept_, or retires it.
  void RetireOldest();
  // Moves an attempt of newest_ to kept_attempts_ if it is the last one of a
  // pending pod. Removes any other record of newest_.
  void Retire(Entries::iterator entry);
  // Removes the pod's attempt from kept_attempts_.
  void ForgetAttempt(const std::string& uid);
  // True if no later record has the same key.
  bool IsLast(const Entry& entry) const;

  const TraceLimits limits_;
  std::uint64_t last_sequence_ = 0;
  std::size_t bytes_ = 0;          // of newest_
  std::size_t attempt_bytes_ = 0;  // of the attempts of newest_
  // The last records of pending pods, of activeQ and of the scheduler that are
  // older than all records of newest_.
  Entries kept_;
  Entries newest_;
  Entries kept_attempts_;
  std::size_t kept_attempt_bytes_ = 0;
  // The sequence number of the last record for each key.
  std::unordered_map<std::string, std::uint64_t> last_;
  // The sequence number of the last attempt of each pending pod, by uid.
  std::unordered_map<std::string, std::uint64_t> last_attempts_;
  // The sequence numbers of the attempts of newest_.
  std::set<std::uint64_t> attempts_;
};

}  // namespace minisched
