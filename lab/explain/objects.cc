#include "lab/explain/objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

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

// Removes all conditions except DisruptionTarget, the only one of other pods
// that schedulers read. So a condition PodScheduled is of the copy's scheduler.
void RemoveConditions(Json& pod) {
  const auto status = pod.find("status");
  if (status == pod.end() || !Get(*status, "conditions").is_array()) return;
  Json left = Json::array();
  for (Json& condition : (*status)["conditions"]) {
    if (Get(condition, "type") == "DisruptionTarget") left.push_back(condition);
  }
  (*status)["conditions"] = std::move(left);
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
      .is_nominated = !GetString(pod, "status", "nominatedNodeName").empty(),
      .has_anti_affinity =
          !Get(spec, "affinity", "podAntiAffinity",
               "requiredDuringSchedulingIgnoredDuringExecution")
               .empty()};
}

Objects::Key Objects::KeyOf(const Json& object,
                            const std::string& source) const {
  const std::string kind = GetString(object, "kind");
  std::string name = NameOf(object);
  if (name.empty()) {
    throw CannotTell(
        fmt::format("{}: a {} has no metadata.name", source, kind));
  }
  const auto* row = apiserver::FindKind(GetString(object, "apiVersion"), kind);
  std::string ns = row->namespaced ? NamespaceOf(object) : "";
  if (row->namespaced && ns.empty()) ns = "default";
  return {kind, std::move(ns), std::move(name)};
}

bool Objects::Prepare(Json& object, const std::string& source) {
  if (!IsKeptKind(object)) {
    const std::string version = GetString(object, "apiVersion");
    if (!IsBuiltIn(version)) {
      ++unknown_[version + " " + GetString(object, "kind")];
    }
    return false;
  }
  try {
    apiserver::CheckLimits(object);
  } catch (const apiserver::StatusError& error) {
    throw CannotTell(fmt::format("{}: {} {}: {}", source,
                                 GetString(object, "kind"), NameOf(object),
                                 error.what()));
  }
  KeepFields(object);
  if (GetString(object, "kind") == "Pod") RemoveConditions(object);
  return true;
}

void Objects::Add(Json object, const std::string& source) {
  if (!Prepare(object, source)) return;
  const auto found = objects_.find(KeyOf(object, source));
  if (found != objects_.end()) {
    const auto& [kind, ns, name] = found->first;
    throw CannotTell(fmt::format(
        "{}: {} {}{}{} is there twice, first in {}: leave one of them out",
        source, kind, ns, ns.empty() ? "" : "/", name, found->second.source));
  }
  Store(object, source);
}

void Objects::Set(Json object, const std::string& source) {
  if (Prepare(object, source)) Store(object, source);
}

void Objects::Store(const Json& object, const std::string& source) {
  const Key key = KeyOf(object, source);
  const auto& [kind, ns, name] = key;
  if (kind == "Pod") {
    pods_[{ns, name}] = FactsOf(object);
  }
  objects_[key] = {Dump(object), source};
}

void Objects::Remove(const Json& object) {
  if (!IsKeptKind(object)) return;
  const Key key = KeyOf(object, "");
  objects_.erase(key);
  if (std::get<0>(key) == "Pod") {
    pods_.erase({std::get<1>(key), std::get<2>(key)});
  }
}

const std::string& Objects::SourceOf(const PodName& pod) const {
  return objects_.at({"Pod", pod.namespace_name, pod.name}).source;
}

std::size_t Objects::Count(const std::string& kind) const {
  return std::ranges::count_if(objects_, [&](const auto& object) {
    return std::get<0>(object.first) == kind;
  });
}

bool Objects::IsCopied(const PodName& name, const PodName& target) const {
  const PodFacts& pod = pods_.at(name);
  if (pod.HasEnded()) return false;
  if (name == target || !pod.node.empty()) return true;
  const auto found = pods_.find(target);
  return found != pods_.end() && !pod.is_terminating && !pod.group.empty() &&
         pod.group == found->second.group &&
         name.namespace_name == target.namespace_name;
}

std::vector<Objects::Manifest> Objects::ManifestsFor(
    const PodName& target) const {
  std::vector<Manifest> manifests;
  std::set<std::string> namespaces = {"default", target.namespace_name};
  for (const auto& [key, kept] : objects_) {
    const auto& [kind, ns, name] = key;
    if (!ns.empty()) namespaces.insert(ns);
    if (kind != "Pod" || IsCopied({ns, name}, target)) {
      manifests.push_back(kept);
    }
  }
  const auto add_missing = [&](const std::string& version,
                               const std::string& kind, const std::string& name,
                               Json object) {
    if (objects_.contains({kind, "", name})) return;
    object["apiVersion"] = version;
    object["kind"] = kind;
    object["metadata"]["name"] = name;
    manifests.push_back({Dump(object), "missing objects"});
  };
  for (const std::string& ns : namespaces) {
    add_missing("v1", "Namespace", ns, Json::object());
  }
  const auto pod = objects_.find({"Pod", target.namespace_name, target.name});
  if (pod != objects_.end()) {
    const Json json = Json::parse(pod->second.json);
    const Json& spec = Get(json, "spec");
    const std::string name = GetString(spec, "priorityClassName");
    Json priority_class = {{"value", apiserver::GetInt(spec, "priority")}};
    apiserver::CopyMember(spec, "preemptionPolicy", priority_class);
    // Every server has the classes of system pods.
    if (!name.empty() && !name.starts_with("system-")) {
      add_missing("scheduling.k8s.io/v1", "PriorityClass", name,
                  priority_class);
    }
  }
  return manifests;
}

}  // namespace minisched::explain
