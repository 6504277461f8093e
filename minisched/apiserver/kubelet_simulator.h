#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "minisched/apiserver/controller.h"
#include "minisched/apiserver/event_recorder.h"
#include "minisched/apiserver/kubelet_admission.h"

namespace minisched::apiserver {

// Plays the kubelets of all nodes, as kwok does: gives nodes a status and a
// lease, and pods that are bound to a node the status of running ones; takes
// away pods that are being deleted. Unlike kwok it turns down what a kubelet
// would turn down. Nothing ever fails or ends.
class KubeletSimulator : public Controller {
 public:
  explicit KubeletSimulator(Registry& registry);

 private:
  // A pod that is on its node.
  struct Running {
    std::string uid;
    std::string node;
    Demand demand;
    std::string cidr;  // of its IP, "" if it has none of its own
    std::uint32_t ip;
  };
  // The addresses for pods: what is above `last` was never used.
  struct Addresses {
    std::uint32_t last;
    std::vector<std::uint32_t> free;
  };

  void Sync(const ObjectKey& key) override;

  void SyncNode(const ObjectKey& key);
  void RenewLease(const Json& node);

  void SyncPod(const ObjectKey& key);
  void Forget(const ObjectKey& key);
  // Makes room for the pod, unless it is turned down.
  bool Admit(const ObjectKey& key, const Json& pod, const Json& node);
  void Start(const ObjectKey& key, const Json& pod, const Json& node);
  std::string PodIp(Running& running, const Json& node);

  EventRecorder recorder_;
  Index pods_;  // by node
  std::map<ObjectKey, Running> running_;
  std::map<std::string, Demand> used_;          // by node
  std::map<std::string, Addresses> addresses_;  // by CIDR
};

}  // namespace minisched::apiserver
