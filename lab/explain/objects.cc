#include "lab/explain/objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "lab/apiserver/errors.h"
#include "lab/apiserver/limits.h"
#include "lab/apiserver/object.h"
#include "lab/explain/errors.h"
#include "lab/explain/kept_fields.h"

namespace minisched::explain {
namespace {

using apiserver::Dump;
using apiserver::Get;
using apiserver::GetString;
using apiserver::Json;
using apiserver::NameOf;
using apiserver::NamespaceOf;

// True for the kinds of Kubernetes, as opposed to custom resources.
bool IsBuiltIn(const std::string& api_version) {
  const std::string group = api_version.substr(0, api_version.find('/'));
  return group.find('.') == group.npos || group.ends_with(".k8s.io");
}

// Removes all conditions except those of other pods that schedulers read:
// DisruptionTarget, and PodResizePending, on which the requests of a pod
// depend. So a condition PodScheduled comes from the copy: from its scheduler
// or, for a pod with gates, from its server.
void RemoveConditions(Json& pod) {
  if (!Get(pod, "status", "conditions").is_array()) return;
  auto& conditions = pod["status"]["conditions"].get_ref<Json::array_t&>();
  std::erase_if(conditions, [](const Json& condition) {
    const std::string type = GetString(condition, "type");
    return type != "DisruptionTarget" && type != "PodResizePending";
  });
}

// Returns the name of an object of a kept kind. Throws CannotTell if the object
// has no name or is too large.
NamespacedName CheckedName(const Json& object, const std::string& source) {
  const std::string kind = GetString(object, "kind");
  const std::string name = NameOf(object);
  if (name.empty()) {
    throw CannotTell(
        fmt::format("{}: a {} has no metadata.name", source, kind));
  }
  try {
    apiserver::CheckLimits(object);
  } catch (const apiserver::StatusError& error) {
    throw CannotTell(
        fmt::format("{}: {} {}: {}", source, kind, name, error.what()));
  }
  const auto* row = apiserver::FindKind(GetString(object, "apiVersion"), kind);
  if (!row->namespaced) return {"", name};
  const std::string ns = NamespaceOf(object);
  return {ns.empty() ? "default" : ns, name};
}

}  // namespace

PodFacts FactsOf(const Json& pod) {
  const Json& spec = Get(pod, "spec");
  const std::string scheduler = GetString(spec, "schedulerName");
  return {
      .node = GetString(spec, "nodeName"),
      .scheduler = scheduler.empty() ? "default-scheduler" : scheduler,
      .phase = GetString(pod, "status", "phase"),
      .group = GetString(pod, "metadata", "labels", kPodGroupLabel),
      .is_terminating = apiserver::IsTerminating(pod),
      .is_new = apiserver::UidOf(pod).empty(),
      .is_nominated = !GetString(pod, "status", "nominatedNodeName").empty(),
      .has_anti_affinity =
          !Get(spec, "affinity", "podAntiAffinity",
               "requiredDuringSchedulingIgnoredDuringExecution")
               .empty()};
}

void Objects::Add(Json object, const std::string& source, bool replace) {
  const std::string kind = GetString(object, "kind");
  if (!IsKeptKind(object)) {
    const std::string version = GetString(object, "apiVersion");
    if (!IsBuiltIn(version)) ++unknown_[version + " " + kind];
    return;
  }
  const NamespacedName name = CheckedName(object, source);
  const auto found = objects_.find({kind, name});
  if (found != objects_.end() && !replace) {
    throw CannotTell(fmt::format(
        "{}: {} {} is there twice, first in {}: leave one of them out", source,
        kind, name.ToString(), found->second.source));
  }
  KeepFields(object);
  if (kind == "Pod") {
    // A pod whose node can't be read would be left out as a pending one.
    const Json& spec = Get(object, "spec");
    const Json& node = Get(spec, "nodeName");
    if (!(spec.is_null() || spec.is_object()) ||
        !(node.is_null() || node.is_string())) {
      throw CannotTell(
          fmt::format("{}: Pod {}: spec.nodeName is no string: correct the "
                      "field",
                      source, name.ToString()));
    }
    RemoveConditions(object);
    pods_[name] = FactsOf(object);
  }
  if (kind == "PersistentVolumeClaim") {
    const Json& owners = Get(object, "metadata", "ownerReferences");
    const Json owner = apiserver::FindBy(owners, "kind", "Pod");
    const std::string uid = GetString(owner, "uid");
    if (!uid.empty()) {
      claim_owners_[{name.namespace_name, GetString(owner, "name")}] = uid;
    }
  }
  objects_[{kind, name}] = {Dump(object), source};
}

void Objects::AddNew(Json object, const std::string& source) {
  const Key key{GetString(object, "kind"), CheckedName(object, source)};
  if (objects_.contains(key)) return;
  const Json& spec = Get(object, "spec");
  if (key.first == "PersistentVolumeClaim" && spec.is_object() &&
      !spec.contains("storageClassName")) {
    const std::string name = DefaultClass();
    if (!name.empty()) object["spec"]["storageClassName"] = name;
  }
  Add(std::move(object), source);
}

void Objects::Remove(const Json& object) {
  if (!IsKeptKind(object)) return;
  const Key key{GetString(object, "kind"), CheckedName(object, "")};
  objects_.erase(key);
  if (key.first == "Pod") pods_.erase(key.second);
}

void Objects::RemoveKind(const std::string& kind) {
  std::erase_if(objects_,
                [&](const auto& object) { return object.first.first == kind; });
  if (kind == "Pod") pods_.clear();
}

// Follows plugin/pkg/admission/storage/storageclass/setdefault.
std::string Objects::DefaultClass() const {
  std::string name;
  std::string time;
  for (const auto& [key, manifest] : objects_) {
    if (key.first != "StorageClass") continue;
    const Json metadata = Json::parse(manifest.json)["metadata"];
    const std::string created = GetString(metadata, "creationTimestamp");
    const bool is_default =
        GetString(metadata, "annotations",
                  "storageclass.kubernetes.io/is-default-class") == "true";
    if (is_default && (name.empty() || created > time)) {
      name = key.second.name;
      time = created;
    }
  }
  return name;
}

std::size_t Objects::Count(const std::string& kind) const {
  return std::ranges::count_if(
      objects_, [&](const auto& object) { return object.first.first == kind; });
}

std::vector<std::string> Objects::NodeNames() const {
  std::vector<std::string> names;
  for (const auto& [key, manifest] : objects_) {
    if (key.first == "Node") names.push_back(key.second.name);
  }
  return names;
}

bool Objects::IsCopied(const NamespacedName& name, const NamespacedName& target,
                       const std::string& group) const {
  const PodFacts& pod = pods_.at(name);
  if (pod.HasEnded()) return false;
  if (name == target || !pod.node.empty()) return true;
  return !pod.is_terminating && !group.empty() && pod.group == group &&
         name.namespace_name == target.namespace_name;
}

Objects::Selection Objects::SelectFor(const NamespacedName& target,
                                      const std::string& group) const {
  Selection selection;
  for (const auto& [key, manifest] : objects_) {
    if (key.first != "Pod") selection.manifests.push_back(manifest);
  }
  AddMissing(target, selection.manifests);
  // Pods come last, because the server fills in their fields from the others.
  for (const auto& [name, pod] : pods_) {
    if (!IsCopied(name, target, group)) {
      if (pod.is_nominated && !pod.HasEnded()) ++selection.nominated;
      continue;
    }
    if (pod.has_anti_affinity && name != target) ++selection.anti_affine;
    const Manifest& manifest = objects_.at({"Pod", name});
    if (pod.is_new) selection.missing.merge(MissingClasses(manifest));
    selection.manifests.push_back(manifest);
    const auto owner = claim_owners_.find(name);
    if (pod.is_new && owner != claim_owners_.end()) {
      Json json = Json::parse(manifest.json);
      json["metadata"]["uid"] = owner->second;
      selection.manifests.back().json = Dump(json);
    }
  }
  return selection;
}

void Objects::AddMissing(const NamespacedName& target,
                         std::vector<Manifest>& manifests) const {
  const auto add = [&](const std::string& version, const std::string& kind,
                       const std::string& name, Json object) {
    if (objects_.contains({kind, {"", name}})) return;
    object["apiVersion"] = version;
    object["kind"] = kind;
    object["metadata"]["name"] = name;
    manifests.push_back({Dump(object), "missing objects"});
  };
  std::set<std::string> namespaces = {"default", target.namespace_name};
  for (const auto& [key, manifest] : objects_) {
    if (const auto& ns = key.second.namespace_name; !ns.empty()) {
      namespaces.insert(ns);
    }
  }
  for (const std::string& ns : namespaces) {
    add("v1", "Namespace", ns, Json::object());
  }
  const auto pod = objects_.find({"Pod", target});
  if (pod == objects_.end()) return;
  if (const auto missing = MissingClasses(pod->second);
      pods_.at(target).is_new && !missing.empty()) {
    throw CannotTell(fmt::format(
        "can't tell: {}: the pod {} was never on a server, and there is no {}: "
        "add it to the dump",
        pod->second.source, target.ToString(), *missing.begin()));
  }
  const Json json = Json::parse(pod->second.json);
  const Json& spec = Get(json, "spec");
  const std::string name = GetString(spec, "priorityClassName");
  // Every server has the classes of system pods.
  if (!name.empty() && !name.starts_with("system-")) {
    Json priority_class = {{"value", apiserver::GetInt(spec, "priority")}};
    apiserver::CopyMember(spec, "preemptionPolicy", priority_class);
    add("scheduling.k8s.io/v1", "PriorityClass", name, priority_class);
  }
  const std::string runtime = GetString(spec, "runtimeClassName");
  if (!runtime.empty()) {
    add("node.k8s.io/v1", "RuntimeClass", runtime,
        {{"handler", runtime},
         {"overhead", {{"podFixed", Get(spec, "overhead")}}}});
  }
}

std::set<std::string> Objects::MissingClasses(const Manifest& pod) const {
  const Json json = Json::parse(pod.json);
  const Json& spec = Get(json, "spec");
  std::set<std::string> missing;
  const auto check = [&](const std::string& kind, const std::string& name) {
    const bool is_known = name.empty() || name.starts_with("system-") ||
                          objects_.contains({kind, {"", name}});
    if (!is_known) missing.insert(kind + " " + name);
  };
  if (Get(spec, "priority").is_null()) {
    check("PriorityClass", GetString(spec, "priorityClassName"));
  }
  if (Get(spec, "overhead").is_null()) {
    check("RuntimeClass", GetString(spec, "runtimeClassName"));
  }
  return missing;
}

}  // namespace minisched::explain
