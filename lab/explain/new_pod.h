#pragma once

#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>
#include <vector>

#include "lab/explain/objects.h"
#include "lab/scenario/scenario.h"

namespace minisched::explain {

// A pod that doesn't exist yet.
struct NewPod {
  NamespacedName name;
  PodFacts facts;
  scenario::Step step;  // creates the pod
  // True if the pod stands for those of a DaemonSet, one on each node. It has
  // the tolerations that the controller adds.
  bool is_of_daemon_set = false;
  // The other objects of the file that schedulers read, and the claims that the
  // controller of a StatefulSet creates for the pod.
  std::vector<nlohmann::json> others;
};

// Reads a pod of a file, or one pod of a workload, without the fields that no
// scheduler reads. If the file has several of them, `selected` names one, as
// KIND/NAME or NAME; the kind is written as for kubectl. Throws CannotTell,
// ConfigError, or Cancelled.
NewPod ReadNewPod(const std::string& file, const std::string& selected,
                  const std::string& namespace_name,
                  const std::stop_token& stop);

}  // namespace minisched::explain
