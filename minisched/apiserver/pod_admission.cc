#include "minisched/apiserver/pod_admission.h"

#include <algorithm>

#include "minisched/apiserver/errors.h"
#include "minisched/apiserver/pods.h"
#include "minisched/apiserver/resources.h"

namespace minisched::apiserver {
namespace {

// Upstream makes up a pod's name only later, and calls it by what it knows.
StatusError Refusal(const Json& pod, const std::string& why) {
  const std::string base = GetString(pod, "metadata", "generateName");
  return Forbidden(GetResource("", "pods"), base.empty() ? NameOf(pod) : base,
                   why);
}

// The class that pods are of that name none; a made up one if there is none.
Json DefaultClass(const Store& store) {
  Json found = {{"preemptionPolicy", "PreemptLowerPriority"}};
  for (const auto& [key, each] :
       store.All("priorityclasses.scheduling.k8s.io")) {
    if (GetBool(*each, "globalDefault") &&
        (NameOf(found).empty() ||
         GetInt(*each, "value") < GetInt(found, "value"))) {
      found = *each;
    }
  }
  return found;
}

void SetPriority(Json& pod, const Store& store) {
  Json& spec = pod["spec"];
  const std::string name = GetString(spec, "priorityClassName");
  Json priority_class;
  if (name.empty()) {
    priority_class = DefaultClass(store);
  } else if (const Object found =
                 store.Find("priorityclasses.scheduling.k8s.io", {"", name})) {
    priority_class = *found;
  } else {
    throw Refusal(pod, "no PriorityClass with name " + name + " was found");
  }

  const std::int64_t value = GetInt(priority_class, "value");
  if (spec.contains("priority") && spec["priority"] != value) {
    throw Refusal(
        pod, "the integer value of priority (" + spec["priority"].dump() +
                 ") must not be provided in pod spec; priority "
                 "admission controller computed " +
                 std::to_string(value) + " from the given PriorityClass name");
  }
  const std::string policy = GetString(priority_class, "preemptionPolicy");
  const std::string given = GetString(spec, "preemptionPolicy");
  if (!given.empty() && given != policy) {
    throw Refusal(pod, "the string value of PreemptionPolicy (" + given +
                           ") must not be provided in pod spec; priority "
                           "admission controller computed " +
                           policy + " from the given PriorityClass name");
  }
  spec["priority"] = value;
  spec["preemptionPolicy"] = policy;
  if (name.empty() && !NameOf(priority_class).empty()) {
    spec["priorityClassName"] = NameOf(priority_class);
  }
}

// A pod stays for five minutes on a node that is lost.
void AddDefaultTolerations(Json& spec) {
  const Json given = Get(spec, "tolerations");
  for (const auto* key :
       {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    const auto tolerates = [&](const Json& toleration) {
      const std::string its_key = GetString(toleration, "key");
      const std::string effect = GetString(toleration, "effect");
      return (its_key.empty() || its_key == key) &&
             (effect.empty() || effect == "NoExecute");
    };
    if (std::any_of(given.begin(), given.end(), tolerates)) continue;
    spec["tolerations"].push_back({{"key", key},
                                   {"operator", "Exists"},
                                   {"effect", "NoExecute"},
                                   {"tolerationSeconds", 300}});
  }
}

}  // namespace

void AdmitPod(Json& pod, const Store& store) {
  SetPriority(pod, store);
  AddDefaultTolerations(pod["spec"]);
  CopyTopologyLabels(pod, store);
}

void AdmitPodUpdate(Json& pod, const Json& old) {
  Json& spec = pod["spec"];
  for (const auto* key : {"priority", "preemptionPolicy"}) {
    const Json& before = Get(old, "spec", key);
    if (!spec.contains(key) && !before.is_null()) spec[key] = before;
  }
  AddDefaultTolerations(spec);
}

}  // namespace minisched::apiserver
