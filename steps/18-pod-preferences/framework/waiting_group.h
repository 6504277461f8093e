#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/status.h"
#include "minisched/api/pod.h"
#include "minisched/base/executor.h"
#include "minisched/base/mutex.h"
#include "minisched/base/task.h"

namespace minisched {

class WaitingPod;

// Pods that wait on Permit together, because they run together or not at all:
// a plugin allows all of them, or all of them are rejected. If one of them is
// rejected, for whatever reason, so are the others. Then all of them give back
// their resources before one of them is requeued or another pod is woken. The
// exceptions: a pod that joins a group after its rejection, and a pod that all
// of its plugins have allowed, which no longer waits.
//
// Thread-safe. The lock of the waiting pods guards the group, so no pod of it
// can be rejected while the others are allowed.
class WaitingGroup : public std::enable_shared_from_this<WaitingGroup> {
 public:
  // `plugin` lets the pods wait. `freed` runs on `executor` after all pods have
  // given back their resources, and before the first of them is requeued. `mu`
  // is the lock of the waiting pods. `executor`, `mu` and the text of `plugin`
  // must outlive the group.
  WaitingGroup(Executor& executor, Mutex& mu, std::string_view plugin,
               Executor::Task freed)
      : executor_(executor),
        mu_(mu),
        plugin_(plugin),
        freed_(std::move(freed)) {}

  // Allows all pods for the plugin, and returns true. Later rejections of one
  // pod don't concern the others. Returns false if the group has been rejected.
  bool Allow() EXCLUDES(mu_);
  // Rejects all pods, unless the group has been allowed or rejected.
  void Reject(const std::string& message) EXCLUDES(mu_);
  bool IsRejected() const EXCLUDES(mu_);

  // Called for each pod of the group that was rejected, after the pod has given
  // back its resources. Waits until all pods that were rejected with the group
  // have done so. Then these pods go on, on the executor, after `freed` has
  // returned. The group must live until then.
  CallbackResult<void> AllGaveBack(const Pod& pod) EXCLUDES(mu_);

 private:
  friend class WaitingPod;
  enum class State { kWaiting, kAllowed, kRejected };

  // WaitingPod calls these two functions under mu_.

  // Adds a pod. If the group was allowed or rejected meanwhile, so is the pod.
  // The others don't wait for such a pod to give back its resources.
  void Join(const std::shared_ptr<WaitingPod>& pod);
  // Reports that the wait of one pod has ended with this result. Rejects the
  // others if the pod was rejected.
  void Ended(const WaitingPod& pod, const Status& result);

  void RejectAll(const Status& status) REQUIRES(mu_);
  void GaveBack(const std::string& uid, Executor::Task go_on) EXCLUDES(mu_);

  Executor& executor_;
  Mutex& mu_;
  const std::string_view plugin_;
  const Executor::Task freed_;
  State state_ GUARDED_BY(mu_) = State::kWaiting;
  // Empty once the group was allowed or rejected.
  std::vector<std::shared_ptr<WaitingPod>> pods_ GUARDED_BY(mu_);
  Status rejection_ GUARDED_BY(mu_);  // if the group was rejected
  // The pods that were rejected with the group and still hold their resources,
  // by uid, and what resumes the others.
  std::set<std::string> holders_ GUARDED_BY(mu_);
  std::vector<Executor::Task> go_on_ GUARDED_BY(mu_);
};

// What a plugin's Permit writes to the CycleState before it returns Wait, so
// that the pod waits with the group.
struct WaitsWith {
  std::shared_ptr<WaitingGroup> group;
};

}  // namespace minisched
