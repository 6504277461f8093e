#pragma once

#include <string>

#include "lab/explain/trial.h"

namespace minisched::explain {

// A copy with the node node-1 and the pending pod default/web, whose uid is u.
inline Experiment WebExperiment(const std::string& scheduler,
                                const std::string& config = "") {
  constexpr char kObjects[] = R"({"kind": "List", "items": [
{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-1"}},
{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}},
{"apiVersion": "v1", "kind": "Pod",
 "metadata": {"name": "web", "namespace": "default", "uid": "u"},
 "spec": {"schedulerName": "mine", "containers": [{"name": "c", "image": "i"}]},
 "status": {"phase": "Pending"}}]})";
  return {.pod = {"default", "web"},
          .scheduler = {scheduler, config},
          .scheduler_name = "mine",
          .objects = {.manifests = {{kObjects, "dump"}}}};
}

// Returns a command that writes records and then waits.
inline std::string Recording(const std::string& records) {
  return "cat >\"$RECORD\" <<'EOT'\n" + records + "\nEOT\nexec sleep 60";
}

}  // namespace minisched::explain
