#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace minisched::explain {

// The label with the name of a pod's group, for Coscheduling.
inline constexpr char kPodGroupLabel[] =
    "pod-group.scheduling.sigs.k8s.io/name";

// The name of a pod.
struct PodName {
  std::string namespace_name;
  std::string name;

  auto operator<=>(const PodName&) const = default;
  // Returns "default/web".
  std::string ToString() const { return namespace_name + "/" + name; }
};

// The fields of a pod that decide whether the pod is copied.
struct PodFacts {
  std::string node;
  std::string scheduler;
  std::string phase;
  std::string group;  // of Coscheduling; "" for none
  bool is_terminating = false;
  bool is_nominated = false;
  bool has_anti_affinity = false;  // required

  bool HasEnded() const { return phase == "Succeeded" || phase == "Failed"; }
};

// `pod` may have fields of wrong types.
PodFacts FactsOf(const nlohmann::json& pod);

// The objects of a cluster, without the fields that no scheduler reads. They
// are kept as JSON texts, which take a tenth of the memory of parsed objects.
class Objects {
 public:
  // Adds an object. `source` is where it comes from, for errors. Ignores kinds
  // that no scheduler reads, but counts those that aren't Kubernetes' own.
  // Throws CannotTell if the object has no name, is too large, or is there
  // already.
  void Add(nlohmann::json object, const std::string& source);
  // Adds an object, or replaces it.
  void Set(nlohmann::json object, const std::string& source);
  // Does nothing if the object is not there.
  void Remove(const nlohmann::json& object);

  const std::map<PodName, PodFacts>& pods() const { return pods_; }
  // Returns where a pod comes from. REQUIRES: pods() has the pod.
  const std::string& SourceOf(const PodName& pod) const;
  std::size_t Count(const std::string& kind) const;
  // The kinds that Add() has counted, by "apiVersion kind".
  const std::map<std::string, int>& unknown_kinds() const { return unknown_; }

  // An object, for Server::Restore().
  struct Manifest {
    std::string json;
    std::string source;
  };
  // Returns the objects that a copy needs to schedule `target`: all except pods
  // that have ended and other pending pods. Pending pods of the target's group
  // are included, because the target can't be bound without them. Adds the
  // namespaces and the priority class that the pods need, if they are missing.
  std::vector<Manifest> ManifestsFor(const PodName& target) const;
  // True if ManifestsFor() returns the pod.
  bool IsCopied(const PodName& name, const PodName& target) const;

 private:
  using Key = std::tuple<std::string, std::string, std::string>;  // kind first

  Key KeyOf(const nlohmann::json& object, const std::string& source) const;
  void Store(const nlohmann::json& object, const std::string& source);
  // Removes fields. Returns false if the object's kind is not kept.
  bool Prepare(nlohmann::json& object, const std::string& source);

  std::map<Key, Manifest> objects_;
  std::map<PodName, PodFacts> pods_;
  std::map<std::string, int> unknown_;
};

}  // namespace minisched::explain
