#pragma once

#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

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
  // pod has given back its resources. Returns false, and never calls `gone`, if
  // the PreBind of the pod with this uid is not under way.
  bool CancelPod(const std::string& uid, const std::string& cause,
                 Executor::Task gone) EXCLUDES(mu_);

 private:
  friend class PodInPreBind;

  Mutex mu_;
  std::map<std::string, PodInPreBind*> pods_ GUARDED_BY(mu_);  // by uid
};

// One of these pods. Lives from the start of its PreBind until the pod was
// bound or has given back its resources.
class PodInPreBind {
 public:
  // `all` must outlive this object. `stop` cancels the PreBind too.
  PodInPreBind(PodsInPreBind& all, std::string uid,
               const std::stop_token& stop);
  ~PodInPreBind();
  PodInPreBind(const PodInPreBind&) = delete;
  PodInPreBind& operator=(const PodInPreBind&) = delete;

  // Asks the PreBind to stop.
  std::stop_token stop_token() const { return stop_.get_token(); }

  // Ends the time in which the PreBind can be cancelled. Returns the cause if
  // CancelPod() was called before.
  std::optional<std::string> MarkPrebound();

 private:
  friend class PodsInPreBind;

  PodsInPreBind& all_;
  const std::string uid_;
  std::stop_source stop_;
  bool prebound_ GUARDED_BY(all_.mu_) = false;
  std::optional<std::string> cause_ GUARDED_BY(all_.mu_);
  std::vector<Executor::Task> gone_ GUARDED_BY(all_.mu_);
  std::stop_callback<std::function<void()>> on_stop_;
};

}  // namespace minisched
