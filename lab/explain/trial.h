#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "lab/apiserver/server.h"
#include "lab/explain/objects.h"
#include "lab/explain/scheduler_run.h"
#include "lab/scenario/cluster.h"
#include "lab/scenario/scenario.h"

namespace minisched::explain {

// The key of the taint of a cordoned node.
inline constexpr char kCordonTaint[] = "node.kubernetes.io/unschedulable";

// What each copy begins with.
struct Experiment {
  NamespacedName pod;
  SchedulerCommand scheduler;
  std::string scheduler_name;  // the pod's
  bool is_new = false;         // the pod was never on a server
  bool is_daemon_set = false;  // the pod stands for those of a DaemonSet
  Objects::Selection objects;
  // Creates the pod if it is new, and carries out the steps of --what-if.
  std::vector<scenario::Step> steps;
  // Called with what the program does next; see Progress::Begin().
  std::function<void(const std::string&)> begin = [](const auto&) {};
};

// A copy of a cluster: an embedded API server with its objects, on a thread of
// this process. No controller runs, so nothing but requests changes the copy.
class Copy {
 public:
  // Throws CannotTell if a node or pod can't be read: the answer would be
  // wrong without it.
  explicit Copy(const std::vector<Objects::Manifest>& manifests);
  ~Copy() { server_.Stop(); }

  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;

  // Returns a warning for each object of another kind that can't be read.
  const std::vector<std::string>& warnings() const { return warnings_; }
  apiserver::Server& server() { return server_; }

 private:
  apiserver::Server server_;
  std::vector<std::string> warnings_;
  std::jthread thread_;
};

// A fresh copy, and what happens to the pod there.
class Trial {
 public:
  // Makes the copy, and carries out the experiment's steps and then `more`.
  // Their default namespace is the pod's, and the name of the pod's scheduler
  // replaces `minisched`, as in scenarios. Pods are deleted at once unless a
  // step has a grace period, because the copy has no kubelet. When a step
  // changes spec.unschedulable of a node, the taint of the node follows, as in
  // a real cluster. Throws RefusedStep if the server refuses a step, and
  // CannotTell for other failures, such as a pod that is gone after the steps.
  Trial(const Experiment& experiment, const std::vector<scenario::Step>& more,
        const std::stop_token& stop);

  const Pod& pod() const { return *pod_; }
  bool is_new() const { return experiment_.is_new; }
  Copy& copy() { return copy_; }
  Client& client() { return cluster_.client(); }

  // Runs the scheduler for other pods of the copy.
  std::vector<Outcome> Run(const Pods& pods, Clock::TimePoint deadline,
                           const std::stop_token& stop) {
    return RunScheduler(cluster_, copy_.server().Kubeconfig(),
                        experiment_.scheduler, pods, deadline, stop);
  }

  // Runs the scheduler. See RunScheduler().
  Outcome Run(Clock::TimePoint deadline, const std::stop_token& stop,
              const std::function<void(const Outcome&)>& before_stop = {}) {
    return RunScheduler(cluster_, copy_.server().Kubeconfig(),
                        experiment_.scheduler, *pod_, deadline, stop,
                        before_stop);
  }

 private:
  const Experiment& experiment_;
  Copy copy_;
  scenario::Cluster cluster_;
  std::shared_ptr<const Pod> pod_;
};

}  // namespace minisched::explain
