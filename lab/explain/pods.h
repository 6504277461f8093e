#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "lab/explain/answer.h"
#include "lab/explain/objects.h"
#include "lab/scenario/scenario.h"

namespace minisched::explain {

// Returns the pod with this name. Without a namespace, searches all of them.
// Returns nullopt if there is no such pod. Throws CannotTell if several
// namespaces have one.
std::optional<PodName> FindPod(const Objects& objects, const std::string& name,
                               const std::string& namespace_name);

// Throws CannotTell that there is no such pod, with the nearest name.
[[noreturn]] void FailToFind(const Objects& objects, const std::string& name,
                             const std::string& namespace_name);

// Returns the answer for a pod that needs no scheduler: it is bound, deleted,
// ended, or another scheduler's. `has_command` is true if the caller has named
// the scheduler's command, which then is the pod's scheduler.
std::optional<Answer> AnswerWithoutScheduler(const PodName& name,
                                             const PodFacts& pod,
                                             bool has_command);

// Returns warnings about pods that matter for the answer but are left out.
std::vector<std::string> WarningsFor(const Objects& objects,
                                     const PodName& name);

// Returns the number of other copied pods with required pod anti-affinity,
// which may keep the pod away from their nodes.
int CountAntiAffinePods(const Objects& objects, const PodName& name);

// A pod that doesn't exist yet.
struct NewPod {
  PodName name;
  PodFacts facts;
  scenario::Step step;  // creates the pod
};

// Reads the only pod of a file, or one pod of its only workload, without the
// fields that no scheduler reads. Throws CannotTell, or Cancelled.
NewPod ReadNewPod(const std::string& file, const std::string& namespace_name,
                  const std::stop_token& stop);

}  // namespace minisched::explain
