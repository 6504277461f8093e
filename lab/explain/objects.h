#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace minisched::explain {

// The label with the name of a pod's group, for Coscheduling.
inline constexpr char kPodGroupLabel[] =
    "pod-group.scheduling.sigs.k8s.io/name";

// The name of an object. The namespace is "" for kinds without namespaces.
struct NamespacedName {
  std::string namespace_name;
  std::string name;

  auto operator<=>(const NamespacedName&) const = default;
  // Returns "default/web", or "node-1" without a namespace.
  std::string ToString() const {
    return namespace_name.empty() ? name : namespace_name + "/" + name;
  }
};

// The fields of a pod that decide whether the pod is copied.
struct PodFacts {
  std::string node;
  std::string scheduler;
  std::string phase;
  std::string group;  // of Coscheduling; "" for none
  bool is_terminating = false;
  bool is_new = false;  // was never on a server
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
  // An object, for Server::Restore().
  struct Manifest {
    std::string json;
    std::string source;
  };

  // What a copy needs to schedule a pod.
  struct Selection {
    std::vector<Manifest> manifests;
    // The number of other copied pods with required pod anti-affinity, which
    // may keep the pod away from their nodes.
    int anti_affine = 0;
    // The number of pods with a nominated node that are left out.
    int nominated = 0;
    // The missing classes of pods that were never on a server, such as
    // "PriorityClass high".
    std::set<std::string> missing = {};
  };

  // Adds an object. `source` is where it comes from, for errors. Ignores kinds
  // that no scheduler reads, but counts those that aren't Kubernetes' own.
  // Throws CannotTell if the object has no name, is too large, is a pod whose
  // node can't be read or, unless `replace` is set, is there already.
  void Add(nlohmann::json object, const std::string& source,
           bool replace = false);
  // Adds a new object, unless the object is there already. As on a server, a
  // claim without a storage class gets the default class.
  void AddNew(nlohmann::json object, const std::string& source);
  // Does nothing if the object is not there.
  void Remove(const nlohmann::json& object);
  void RemoveKind(const std::string& kind);

  const std::map<NamespacedName, PodFacts>& pods() const { return pods_; }
  // Returns where a pod comes from. REQUIRES: pods() has the pod.
  const std::string& SourceOf(const NamespacedName& pod) const {
    return objects_.at({"Pod", pod}).source;
  }
  std::size_t Count(const std::string& kind) const;
  std::vector<std::string> NodeNames() const;
  // The kinds that Add() has counted, by "apiVersion kind".
  const std::map<std::string, int>& unknown_kinds() const { return unknown_; }

  // Selects all objects except pods that have ended and other pending pods.
  // Pending pods of the target's `group`, if it is not "", are included,
  // because the target can't be bound without them. Adds what is missing:
  // the namespaces of the pods, and the target's priority class and runtime
  // class, made from the target's fields. Throws CannotTell if the target was
  // never on a server and one of its classes is missing, because its fields
  // then don't show the class.
  Selection SelectFor(const NamespacedName& target,
                      const std::string& group) const;

 private:
  using Key = std::pair<std::string, NamespacedName>;  // the kind, and the name

  // Returns the name of the newest default storage class; "" if there is none.
  std::string DefaultClass() const;
  bool IsCopied(const NamespacedName& name, const NamespacedName& target,
                const std::string& group) const;
  void AddMissing(const NamespacedName& target,
                  std::vector<Manifest>& manifests) const;
  // Returns the missing classes of a pod that was never on a server.
  std::set<std::string> MissingClasses(const Manifest& pod) const;

  std::map<Key, Manifest> objects_;
  std::map<NamespacedName, PodFacts> pods_;
  // The uids that pods have in their claims, by pod. An export of the live page
  // has no other uids of pods.
  std::map<NamespacedName, std::string> claim_owners_;
  std::map<std::string, int> unknown_;
};

}  // namespace minisched::explain
