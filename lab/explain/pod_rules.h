#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lab/explain/node_states.h"
#include "minisched/api/labels.h"
#include "minisched/api/pod.h"

namespace minisched::explain {

// A parsed required term of a pod's affinity or anti-affinity to other pods.
class PodTerm {
 public:
  // `owner` is the pod that has the term. Throws ParseError.
  PodTerm(const ObjectMeta& owner, const PodAffinityTerm& term,
          const NamespaceLabels& namespaces);

  bool Matches(const ObjectMeta& pod) const {
    return namespaces_.contains(pod.namespace_name) && MatchesLabels(pod);
  }
  // Ignores the namespace.
  bool MatchesLabels(const ObjectMeta& pod) const {
    return selector_.Matches(pod.labels);
  }
  const std::string& topology_key() const { return topology_key_; }
  // Returns "pods with app=web", and their namespaces, if the term names any.
  std::string Pods() const;
  // Returns "app=web".
  std::string Labels() const;

 private:
  std::string topology_key_;
  Selector selector_;
  bool selects_ = true;           // false without a label selector
  bool of_own_namespace_ = true;  // names no namespaces
  std::set<std::string> namespaces_;
};

// The pods of a domain that a term selects.
struct PodsOfDomain {
  int count = 0;
  const PlacedPod* first = nullptr;
  std::string node;  // of the first one
};

// The rules about other pods that InterPodAffinity checks for a pod: its own
// required affinity and anti-affinity, and the required anti-affinity of pods
// on nodes. Refers to `nodes`.
class PodRules {
 public:
  // Throws ParseError.
  PodRules(const Pod& pod, const NodeStates& nodes,
           const NamespaceLabels& namespaces);

  // Returns why the rules reject the node; empty if they don't.
  std::vector<std::string> CausesOf(const Node& node) const;

  // The following functions return the parts of the causes, for suggestions.

  // Returns the positions of the required affinity terms, and of the required
  // anti-affinity terms, that reject the node.
  std::vector<std::size_t> UnmetAffinity(const Node& node) const;
  std::vector<std::size_t> UnmetAntiAffinity(const Node& node) const;
  // Returns the topology keys of the domains with pods that keep the pod away.
  std::set<std::string> RepellingKeys(const Node& node) const;
  // Returns the only pod that keeps the pod away from the node; null if there
  // are several, or if the two look like replicas that avoid each other.
  const PlacedPod* OnlyRepelling(const Node& node) const;
  // Returns the value of the term's topology key where the required pods are;
  // "" if there are none.
  std::string DomainOf(std::size_t affinity_term) const;
  // Returns the namespaces of the pods that would match the term if it selected
  // their namespaces.
  std::set<std::string> OtherNamespaces(std::size_t affinity_term) const;
  const std::vector<PodTerm>& affinity() const { return affinity_; }
  const std::vector<PodTerm>& anti_affinity() const { return anti_affinity_; }

 private:
  using Domains = std::map<std::string, PodsOfDomain>;  // by the label's value
  // A term of a pod on a node that selects `pod_`.
  struct Repelling {
    Domains domains;
    std::map<std::string, std::string> pods;  // what is kept out, by domain
  };

  void Count(const PlacedPod& other, const Node& node,
             const NamespaceLabels& namespaces);
  const PodsOfDomain* RepellingPods(const Node& node,
                                    const std::string& key) const;
  bool MatchesAll(const ObjectMeta& pod) const;
  bool MayBeFirst() const;
  std::vector<std::string> AffinityCauses(const Node& node) const;
  std::string WhereRequired(std::size_t term) const;
  std::string NoPodMatchesAll() const;

  ObjectMeta pod_;
  std::vector<PodTerm> affinity_;
  std::vector<PodTerm> anti_affinity_;
  // True if a pod matches all affinity terms, and its node has one of the keys.
  bool has_required_ = false;
  std::vector<Domains> required_;  // by affinity term: pods that match all
  std::vector<Domains> avoided_;   // by anti-affinity term
  std::map<std::string, Repelling> repelling_;  // by topology key
  // By affinity term: namespaces with pods that have the labels, and the first
  // pod that matches this term.
  std::vector<std::set<std::string>> other_namespaces_;
  std::vector<const PlacedPod*> partial_;
};

// Returns "on the same node", "in the same zone" or "with the same rack".
std::string SamePlace(const std::string& topology_key);
// Returns the value of the node's label, or null.
const std::string* LabelOf(const Node& node, const std::string& key);

}  // namespace minisched::explain
