#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lab/live/record_lines.h"
#include "lab/live/simulator_results.h"
#include "minisched/api/event.h"
#include "minisched/base/mutex.h"
#include "minisched/client/client.h"
#include "minisched/informer/shared_informer_factory.h"

namespace minisched::live {

// The attempts and moves of a scheduler in another process: those of its
// records or, without records, the attempts that its events FailedScheduling
// and kube-scheduler-simulator's annotations describe. Thread-safe.
class OtherScheduler {
 public:
  // FindAttempt() finds the newest attempts, up to this total size.
  static constexpr std::size_t kAttemptBytes = 64 << 20;

  // Where the attempts and moves come from.
  enum class Source { kRecords, kPods };

  // With kRecords, ReadRecords() passes the records. With kPods, watches the
  // pods whose spec.schedulerName is `name`, and their events. `client` must
  // outlive the object.
  OtherScheduler(Client& client, std::string name, Source source,
                 std::size_t attempt_bytes = kAttemptBytes);
  // Blocks until no handler of the informers runs.
  ~OtherScheduler() { informers_.Shutdown(); }

  OtherScheduler(const OtherScheduler&) = delete;
  OtherScheduler& operator=(const OtherScheduler&) = delete;

  // Reads a line with a record. With `only_new`, ignores a record that it has
  // read before: one whose sequence is not higher. Throws ParseError.
  void ReadRecord(const std::string& line, bool only_new = false) EXCLUDES(mu_);
  // Returns the items that are new since the last call.
  std::vector<Item> Take() EXCLUDES(mu_);
  // Returns how many records are missing since the last call, by their
  // sequence.
  std::uint64_t TakeMissing() EXCLUDES(mu_);
  // Forgets all records: the next ones are of another scheduler.
  void Clear() EXCLUDES(mu_);

  // Returns the full record of one of the newest attempts.
  std::optional<std::string> FindAttempt(const std::string& key) const
      EXCLUDES(mu_);

 private:
  void ReadNewPod(const Pod& pod) EXCLUDES(mu_);
  void ReadAnnotations(const Pod& pod) EXCLUDES(mu_);
  void ReadEvent(const Event& event) EXCLUDES(mu_);
  void AddEvent(const Event& event, const Pod& pod) REQUIRES(mu_);
  // Forgets what was read of a pod that is deleted.
  void Forget(const std::string& uid) EXCLUDES(mu_);
  // Forgets an event that is deleted, if its pod is still unknown.
  void Forget(const Event& event) EXCLUDES(mu_);
  // Adds the record of an attempt, which gets a sequence of its own: a page
  // reads an attempt again only if the sequence has changed.
  void AddAttempt(nlohmann::json record) REQUIRES(mu_);
  // `text` is the record as a line.
  void AddRecord(const nlohmann::json& record, std::string text) REQUIRES(mu_);

  const std::string name_;
  const std::size_t max_attempt_bytes_;
  mutable Mutex mu_;
  std::vector<Item> items_ GUARDED_BY(mu_);
  std::uint64_t sequence_ GUARDED_BY(mu_) = 0;  // of the last record
  std::uint64_t missing_ GUARDED_BY(mu_) = 0;
  SimulatorResults results_ GUARDED_BY(mu_);
  // How often each event has occurred: by uid of the pod and name of the event.
  std::map<std::string, std::map<std::string, int>> events_ GUARDED_BY(mu_);
  // Events that came before their pods, or after the pods were deleted: by uid
  // of the pod and name of the event. No more than the informer has.
  std::map<std::string, std::map<std::string, Event>> early_events_
      GUARDED_BY(mu_);
  std::map<std::string, std::string> attempts_ GUARDED_BY(mu_);
  std::deque<std::string> newest_ GUARDED_BY(mu_);  // the keys of attempts_
  std::size_t attempt_bytes_ GUARDED_BY(mu_) = 0;
  SharedInformerFactory informers_;
};

}  // namespace minisched::live
