#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lab/live/line_tail.h"
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
  // How many attempts can be found.
  static constexpr std::size_t kAttempts = 512;

  // Reads records from the file `records`, or from standard input if this is
  // "-". If it is empty, watches the pods whose spec.schedulerName is `name`,
  // and their events. `client` must outlive the object.
  OtherScheduler(Client& client, std::string name, const std::string& records);
  // Blocks until no handler of the informers runs.
  ~OtherScheduler() { informers_.Shutdown(); }

  OtherScheduler(const OtherScheduler&) = delete;
  OtherScheduler& operator=(const OtherScheduler&) = delete;

  // Returns the items that are new since the last call. After a malformed
  // record, logs an error and reads no further. For one thread.
  std::vector<Item> Take() EXCLUDES(mu_);

  // Returns the full record of one of the newest attempts.
  std::optional<std::string> FindAttempt(const std::string& key) const
      EXCLUDES(mu_);

 private:
  void PollRecords() EXCLUDES(mu_);
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
  void AddRecord(const nlohmann::json& record) REQUIRES(mu_);

  const std::string name_;
  std::optional<LineTail> records_;
  mutable Mutex mu_;
  std::vector<Item> items_ GUARDED_BY(mu_);
  std::uint64_t sequence_ GUARDED_BY(mu_) = 0;
  SimulatorResults results_ GUARDED_BY(mu_);
  // How often each event has occurred: by uid of the pod and name of the event.
  std::map<std::string, std::map<std::string, int>> events_ GUARDED_BY(mu_);
  // Events that came before their pods, or after the pods were deleted: by uid
  // of the pod and name of the event. No more than the informer has.
  std::map<std::string, std::map<std::string, Event>> early_events_
      GUARDED_BY(mu_);
  std::map<std::string, std::string> attempts_ GUARDED_BY(mu_);
  std::deque<std::string> newest_ GUARDED_BY(mu_);  // the keys of attempts_
  SharedInformerFactory informers_;
};

}  // namespace minisched::live
