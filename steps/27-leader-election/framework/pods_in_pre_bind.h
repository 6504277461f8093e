#pragma once

#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "framework/status.h"
#include "minisched/base/executor.h"
#include "minisched/base/mutex.h"

namespace minisched {

class PodInPreBind;

// The pods whose PreBind is under way. No Binding was sent for them yet, so
// preemption need not delete such a pod: it cancels the pod's PreBind.
// Thread-safe. Follows kube-scheduler's
// framework/runtime/pods_in_prebind_map.go.
class PodsInPreBind {
 public:
  // Cancels the pod's PreBind, for the reason `cause`. Calls `gone` when the
  // pod has given back its resources, which may be at once. Returns false, and
  // never calls `gone`, if no PreBind of the pod with this uid can be
  // cancelled.
  bool CancelPod(const std::string& uid, const std::string& cause,
                 Executor::Task gone) EXCLUDES(mu_);

 private:
  friend class PodInPreBind;

  struct Attempt {  // guarded by mu_
    std::stop_source stop;
    std::optional<std::string> cause;
    std::vector<Executor::Task> gone;
  };

  Mutex mu_;
  // By uid. Two attempts of a pod can overlap: then this is the later one.
  std::map<std::string, Attempt*> pods_ GUARDED_BY(mu_);
};

// One attempt to run the PreBind of a pod. Must be destroyed as soon as the pod
// has given back its resources, and before the pod is requeued.
class PodInPreBind {
 public:
  // `all` must outlive this object. `stop` cancels the PreBind too.
  PodInPreBind(PodsInPreBind& all, std::string uid,
               const std::stop_token& stop);
  ~PodInPreBind();
  PodInPreBind(const PodInPreBind&) = delete;
  PodInPreBind& operator=(const PodInPreBind&) = delete;

  // Asks the PreBind to stop.
  std::stop_token stop_token() const { return attempt_.stop.get_token(); }

  // Receives the result of the PreBind. Returns an error if CancelPod() was
  // called before, else the result. After a success, the pod's PreBind can't be
  // cancelled any more.
  Status MarkPrebound(const Status& result);

 private:
  void Remove() REQUIRES(all_.mu_);

  PodsInPreBind& all_;
  const std::string uid_;
  PodsInPreBind::Attempt attempt_;
  // Last: it uses `attempt_`.
  std::stop_callback<std::function<void()>> on_stop_;
};

}  // namespace minisched
