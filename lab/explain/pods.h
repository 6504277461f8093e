#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lab/explain/answer.h"
#include "lab/explain/objects.h"

namespace minisched::explain {

// Returns the name in an argument, "POD" or "NAMESPACE/POD". `namespace_name`
// is that of -n, or "". If no argument has a namespace, the result has "".
// Throws CannotTell if the two arguments have different namespaces.
NamespacedName ParsePodName(const std::string& pod,
                            const std::string& namespace_name);

// Returns the namespaces that have a pod with this name. If `namespace_name` is
// not empty, searches only this namespace.
std::vector<std::string> NamespacesOf(const Objects& objects,
                                      const std::string& name,
                                      const std::string& namespace_name);

// Returns the pod with this name. Throws CannotTell if several namespaces have
// one, or if none has; then the error has the nearest name, if one is near.
NamespacedName FindPod(const Objects& objects, const std::string& name,
                       const std::string& namespace_name);

// Returns the answer for a pod that needs no scheduler: it is bound, even to a
// node that the objects lack, deleted, ended, or another scheduler's.
// `has_command` is true if the caller has named the scheduler's command or
// configuration, which then are those of the pod's scheduler.
std::optional<Answer> AnswerWithoutScheduler(const Objects& objects,
                                             const NamespacedName& name,
                                             const PodFacts& pod,
                                             bool has_command);

// Adds warnings about objects that are left out of the selection, but may
// matter for the answer.
void AddWarnings(const Objects& objects, const Objects::Selection& selection,
                 std::vector<std::string>& warnings);

}  // namespace minisched::explain
