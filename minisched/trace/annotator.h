#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "minisched/api/labels.h"
#include "minisched/api/pod.h"
#include "minisched/base/clock.h"
#include "minisched/base/mutex.h"
#include "minisched/base/task.h"
#include "minisched/base/wait_group.h"
#include "minisched/client/client.h"
#include "minisched/trace/result_annotations.h"
#include "minisched/trace/trace.h"

namespace minisched {

// Writes the results of each attempt to the attempt's pod, as annotations in
// the form of kube-scheduler-simulator, while the object exists. Writes them at
// the end of the attempt: when the pod is bound, or when it could not be
// scheduled. Does not write results again that the pod was last annotated with,
// because in some steps each change of a pod wakes the pod.
//
// Never stops or delays the scheduler: reads the trace on a thread of its own,
// and sends requests without blocking, with a client of its own. For each
// result, gets the pod and patches it. If that fails, logs a warning and goes
// on. Logs at most one warning of a kind a minute. Annotates up to ten pods at
// a time. If results come faster than they can be written, only the last
// results of a pod are written; beyond about 64 MiB of them, drops the oldest.
class Annotator {
 public:
  // `config` is that of the scheduler's client. The annotator uses a rate limit
  // of the same size, but not the same one. `trace` and `clock` must outlive
  // the annotator.
  Annotator(Trace& trace, const RestConfig& config, Clock& clock = RealClock());
  // Writes the remaining results, for at most 5 s.
  ~Annotator();

  Annotator(const Annotator&) = delete;
  Annotator& operator=(const Annotator&) = delete;

 private:
  friend struct AnnotatorPeer;  // for tests

  // The results of an attempt.
  struct Results {
    Labels annotations;
    std::size_t bytes = 0;
  };

  // A pod that is pending, or that has results to write.
  struct PodState {
    std::string pod;  // "namespace/name"
    // The last report of an attempt that has not ended. The trace may have
    // removed it.
    std::weak_ptr<const Record> attempt;
    std::optional<Results> next;  // to write after those under way
    // The hash of the last results. 0 if they could not be written.
    std::size_t hash = 0;
    bool under_way = false;
    bool ended = false;  // bound or gone
  };
  using Pods = std::unordered_map<std::string, PodState>;  // by uid

  // Results that are being written.
  struct Job {
    std::string uid;
    std::string pod;
    Labels annotations;
  };

  void ReadTrace(const std::stop_token& stop) EXCLUDES(mu_);
  void ReadRecord(const RecordPtr& record) EXCLUDES(mu_);
  // Adds the results of an attempt that has ended.
  void AddResults(Pods::iterator pod, const Attempt& attempt) REQUIRES(mu_);
  void DropOldest() REQUIRES(mu_);
  void ForgetIfEnded(Pods::iterator pod) REQUIRES(mu_);
  void WarnOfLosses() EXCLUDES(mu_);

  // Starts to write as many results as may be written now.
  void StartJobs() EXCLUDES(mu_);
  std::optional<Job> TakeJob() EXCLUDES(mu_);
  // Gets the pod, and patches it if it is the same pod.
  Task<> Annotate(Job job) EXCLUDES(mu_);
  void Finish(const Job& job, bool written) EXCLUDES(mu_);

  void WarnOfLimit(const Job& job, const std::vector<std::string>& left_out)
      EXCLUDES(mu_);
  void WarnOfFailure(const Job& job, const ClientError& error) EXCLUDES(mu_);
  // Logs a warning, unless one of this kind was logged in the last minute.
  void Warn(const std::string& kind, const std::string& message) EXCLUDES(mu_);

  Clock& clock_;
  TraceReader reader_;
  Mutex mu_;
  Pods pods_ GUARDED_BY(mu_);
  // The uids of the pods whose results can be written next, in order.
  std::deque<std::string> waiting_ GUARDED_BY(mu_);
  std::size_t waiting_bytes_ GUARDED_BY(mu_) = 0;  // of all results to write
  std::size_t jobs_ GUARDED_BY(mu_) = 0;           // under way
  std::size_t dropped_ GUARDED_BY(mu_) = 0;        // results
  std::map<std::string, Clock::TimePoint> last_warnings_ GUARDED_BY(mu_);
  std::stop_source give_up_;  // cancels the jobs under way
  WaitGroup under_way_;
  Client client_;        // its callbacks use all of the above
  std::jthread thread_;  // last: it uses everything
};

}  // namespace minisched
