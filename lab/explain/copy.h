#pragma once

#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "lab/apiserver/server.h"
#include "lab/explain/objects.h"
#include "lab/scenario/scenario.h"
#include "minisched/client/rest_config.h"

namespace minisched::explain {

// A copy of a cluster: an embedded API server with its objects, on a thread of
// this process. No controller runs, so nothing but requests changes the copy.
class Copy {
 public:
  // Throws CannotTell if a node or pod can't be read: the answer would be
  // wrong without it.
  explicit Copy(const std::vector<Objects::Manifest>& manifests);
  ~Copy();

  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;

  // Returns a warning for each object of another kind that can't be read.
  const std::vector<std::string>& warnings() const { return warnings_; }

  RestConfig config() const;
  std::string Kubeconfig() const { return server_.Kubeconfig(); }
  apiserver::Server& server() { return server_; }

 private:
  apiserver::Server server_;
  std::vector<std::string> warnings_;
  std::jthread thread_;
};

// Carries steps out on the copy. Pods are deleted at once unless a step has a
// grace period, because the copy has no kubelet. When a step changes
// spec.unschedulable of a node, the taint of the node follows, as in a real
// cluster. `namespace_name` is the default namespace, and `scheduler_name`
// replaces `minisched`, as in scenarios. Throws CannotTell.
void Play(const std::vector<scenario::Step>& steps, const Copy& copy,
          const std::string& namespace_name, const std::string& scheduler_name,
          const std::stop_token& stop);

}  // namespace minisched::explain
