#include "lab/explain/pod_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "lab/explain/daemon_sets.h"

namespace minisched::explain {
namespace {

constexpr char kHostnameKey[] = "kubernetes.io/hostname";
constexpr std::size_t kShownNames = 3;

// Returns the name of a domain: "the node" or "zone=a".
std::string ShowDomain(const Node& node, const std::string& key,
                       const std::string& value) {
  if (key == kHostnameKey && value == node.metadata.name) return "the node";
  return key + "=" + value;
}

// Returns "default/web-1 on n1 and 2 more".
std::string ShowPods(const PodsOfDomain& pods, bool with_node) {
  std::string text = ObjectName(pods.first->metadata);
  if (with_node) text += " on " + pods.node;
  if (pods.count > 1) text += fmt::format(" and {} more", pods.count - 1);
  return text;
}

// Returns the first names, joined.
std::string JoinFirst(const std::vector<std::string>& names) {
  if (names.size() <= kShownNames) {
    return fmt::format("{}", fmt::join(names, ", "));
  }
  return fmt::format(
      "{}, … ({})", fmt::join(names.begin(), names.begin() + kShownNames, ", "),
      names.size());
}

template <class Map>
std::vector<std::string> KeysOf(const Map& map) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : map) keys.push_back(key);
  return keys;
}

void AddPod(PodsOfDomain& domain, const PlacedPod& pod, const Node& node) {
  if (domain.count++ > 0) return;
  domain.first = &pod;
  domain.node = node.metadata.name;
}

// Returns the pods of the node's domain, or null.
const PodsOfDomain* FindDomain(
    const std::map<std::string, PodsOfDomain>& domains, const Node& node,
    const std::string& key) {
  const std::string* value = LabelOf(node, key);
  const auto found = value ? domains.find(*value) : domains.end();
  return found == domains.end() ? nullptr : &found->second;
}

}  // namespace

std::string SamePlace(const std::string& topology_key) {
  if (topology_key == kHostnameKey) return "on the same node";
  for (const char* place : {"zone", "region"}) {
    const std::string name = topology_key.substr(topology_key.rfind('/') + 1);
    if (name == place) return "in the same " + name;
  }
  return "with the same " + topology_key;
}

const std::string* LabelOf(const Node& node, const std::string& key) {
  const auto label = node.metadata.labels.find(key);
  return label == node.metadata.labels.end() ? nullptr : &label->second;
}

PodTerm::PodTerm(const ObjectMeta& owner, const PodAffinityTerm& term,
                 const NamespaceLabels& namespaces)
    : topology_key_(term.topology_key),
      selector_(term.label_selector
                    ? Selector::FromLabelSelector(*term.label_selector)
                    : Selector::Nothing()),
      selects_(term.label_selector.has_value()),
      of_own_namespace_(term.namespaces.empty() && !term.namespace_selector),
      namespaces_(term.namespaces.begin(), term.namespaces.end()) {
  if (of_own_namespace_) namespaces_.insert(owner.namespace_name);
  if (!term.namespace_selector) return;
  const auto selector = Selector::FromLabelSelector(*term.namespace_selector);
  for (const auto& [name, labels] : namespaces) {
    if (selector.Matches(labels)) namespaces_.insert(name);
  }
}

std::string PodTerm::Labels() const {
  const std::string labels = selector_.ToString();
  return selects_ ? labels.empty() ? "any labels" : labels
                  : "no labelSelector, which selects no pod";
}

std::string PodTerm::Pods() const {
  std::string text = "pods with " + Labels();
  if (of_own_namespace_) return text;
  const std::vector<std::string> names(namespaces_.begin(), namespaces_.end());
  return text + (names.empty() ? " of no namespace"
                 : names.size() == 1
                     ? " of the namespace " + names[0]
                     : " of the namespaces " + JoinFirst(names));
}

PodRules::PodRules(const Pod& pod, const NodeStates& nodes,
                   const NamespaceLabels& namespaces)
    : pod_(pod.metadata) {
  const Affinity& affinity = pod.spec.affinity;
  for (const PodAffinityTerm& term : affinity.pod_affinity.required) {
    affinity_.emplace_back(pod_, term, namespaces);
  }
  for (const PodAffinityTerm& term : affinity.pod_anti_affinity.required) {
    anti_affinity_.emplace_back(pod_, term, namespaces);
  }
  required_.resize(affinity_.size());
  avoided_.resize(anti_affinity_.size());
  other_namespaces_.resize(affinity_.size());
  partial_.resize(affinity_.size());
  for (const auto& [name, state] : nodes) {
    for (const PlacedPod& other : state.placed) {
      Count(other, state.node, namespaces);
    }
  }
}

bool PodRules::MatchesAll(const ObjectMeta& pod) const {
  return !affinity_.empty() &&
         std::ranges::all_of(
             affinity_, [&](const PodTerm& term) { return term.Matches(pod); });
}

void PodRules::Count(const PlacedPod& other, const Node& node,
                     const NamespaceLabels& namespaces) {
  const bool matches_all = MatchesAll(other.metadata);
  for (std::size_t i = 0; i < affinity_.size(); ++i) {
    const PodTerm& term = affinity_[i];
    if (term.Matches(other.metadata)) {
      if (partial_[i] == nullptr) partial_[i] = &other;
    } else if (term.MatchesLabels(other.metadata)) {
      other_namespaces_[i].insert(other.metadata.namespace_name);
    }
    const std::string* domain = LabelOf(node, term.topology_key());
    if (!matches_all || domain == nullptr) continue;
    AddPod(required_[i][*domain], other, node);
    has_required_ = true;
  }
  for (std::size_t i = 0; i < anti_affinity_.size(); ++i) {
    const PodTerm& term = anti_affinity_[i];
    const std::string* domain = LabelOf(node, term.topology_key());
    if (domain == nullptr || !term.Matches(other.metadata)) continue;
    AddPod(avoided_[i][*domain], other, node);
  }
  std::set<std::string> counted;  // topology keys
  for (const PodAffinityTerm& each : other.required_anti_affinity) {
    const std::string* domain = LabelOf(node, each.topology_key);
    if (domain == nullptr) continue;
    const PodTerm term(other.metadata, each, namespaces);
    if (!term.Matches(pod_)) continue;
    if (!counted.insert(each.topology_key).second) continue;
    Repelling& repelling = repelling_[each.topology_key];
    AddPod(repelling.domains[*domain], other, node);
    repelling.pods.emplace(*domain, term.Labels());
  }
}

std::vector<std::string> PodRules::CausesOf(const Node& node) const {
  std::vector<std::string> causes = AffinityCauses(node);
  std::set<const PlacedPod*> named;
  for (const std::size_t i : UnmetAntiAffinity(node)) {
    const PodTerm& term = anti_affinity_[i];
    const std::string& key = term.topology_key();
    const std::string domain = ShowDomain(node, key, *LabelOf(node, key));
    const PodsOfDomain& pods = *FindDomain(avoided_[i], node, key);
    std::string cause =
        fmt::format("keeps away from {}, {} has {}", term.Pods(), domain,
                    ShowPods(pods, domain != "the node"));
    const PodsOfDomain* mutual = RepellingPods(node, key);
    if (mutual && mutual->first == pods.first && mutual->count == pods.count) {
      named.insert(pods.first);
      cause += pods.count == 1 ? ", which keeps this pod away, too"
                               : ", which keep this pod away, too";
    }
    causes.push_back(std::move(cause));
  }
  for (const auto& [key, repelling] : repelling_) {
    const PodsOfDomain* pods = RepellingPods(node, key);
    if (pods == nullptr || named.contains(pods->first)) continue;
    const std::string& value = *LabelOf(node, key);
    causes.push_back(fmt::format(
        "{} on {} keeps pods with {} out of {}{}",
        ObjectName(pods->first->metadata), pods->node, repelling.pods.at(value),
        ShowDomain(node, key, value),
        pods->count == 1
            ? ""
            : fmt::format(" ({} more pods do so)", pods->count - 1)));
  }
  return causes;
}

// Returns the pods that keep the pod out of the node's domain, or null.
const PodsOfDomain* PodRules::RepellingPods(const Node& node,
                                            const std::string& key) const {
  const auto repelling = repelling_.find(key);
  return repelling == repelling_.end()
             ? nullptr
             : FindDomain(repelling->second.domains, node, key);
}

// Returns true for the first pod of a group whose pods require each other.
bool PodRules::MayBeFirst() const { return !has_required_ && MatchesAll(pod_); }

std::vector<std::size_t> PodRules::UnmetAffinity(const Node& node) const {
  std::vector<std::size_t> unlabelled;
  std::vector<std::size_t> unmet;
  for (std::size_t i = 0; i < affinity_.size(); ++i) {
    const std::string& key = affinity_[i].topology_key();
    if (LabelOf(node, key) == nullptr) unlabelled.push_back(i);
    if (FindDomain(required_[i], node, key) == nullptr) unmet.push_back(i);
  }
  if (!unlabelled.empty()) return unlabelled;
  return MayBeFirst() ? std::vector<std::size_t>() : unmet;
}

std::vector<std::size_t> PodRules::UnmetAntiAffinity(const Node& node) const {
  std::vector<std::size_t> unmet;
  for (std::size_t i = 0; i < anti_affinity_.size(); ++i) {
    if (FindDomain(avoided_[i], node, anti_affinity_[i].topology_key())) {
      unmet.push_back(i);
    }
  }
  return unmet;
}

std::vector<std::string> PodRules::AffinityCauses(const Node& node) const {
  std::vector<std::string> causes;
  for (const std::size_t i : UnmetAffinity(node)) {
    const PodTerm& term = affinity_[i];
    const std::string& key = term.topology_key();
    const bool has_label = LabelOf(node, key) != nullptr;
    if (has_label && !has_required_) return {NoPodMatchesAll()};
    const std::string pods =
        affinity_.size() == 1
            ? term.Pods()
            : fmt::format("pods that match all {} terms", affinity_.size());
    causes.push_back(fmt::format(
        "requires {} {}, {}", pods, SamePlace(key),
        has_label ? WhereRequired(i) : "the node has no label " + key));
  }
  return causes;
}

// Returns where the pods are that the affinity requires.
std::string PodRules::WhereRequired(std::size_t term) const {
  const std::string& key = affinity_[term].topology_key();
  const Domains& domains = required_[term];
  if (domains.empty()) return "the nodes of these pods have no label " + key;
  const auto& [value, pods] = *domains.begin();
  if (domains.size() > 1) {
    return fmt::format("they are in {} {}", key, JoinFirst(KeysOf(domains)));
  }
  return fmt::format("{}={} has {}", key, value, ShowPods(pods, true));
}

std::string PodRules::NoPodMatchesAll() const {
  if (affinity_.size() > 1) {
    std::vector<std::string> matches;
    for (std::size_t i = 0; i < affinity_.size(); ++i) {
      matches.push_back(fmt::format(
          "{}: {}", affinity_[i].Labels(),
          partial_[i] ? ObjectName(partial_[i]->metadata) : "no pod"));
    }
    return fmt::format(
        "requires one pod that matches all {} terms, no pod does ({})",
        affinity_.size(), fmt::join(matches, ", "));
  }
  const PodTerm& term = affinity_[0];
  const auto& others = other_namespaces_[0];
  std::string why = "no node has such a pod";
  if (partial_[0] != nullptr) {
    why = fmt::format("the node of {} has no label {}",
                      ObjectName(partial_[0]->metadata), term.topology_key());
  } else if (!others.empty()) {
    why = fmt::format("such pods are only in the namespace{} {}",
                      others.size() == 1 ? "" : "s",
                      JoinFirst({others.begin(), others.end()}));
  }
  return fmt::format("requires {} {}, {}", term.Pods(),
                     SamePlace(term.topology_key()), why);
}

std::set<std::string> PodRules::RepellingKeys(const Node& node) const {
  std::set<std::string> keys;
  for (const std::size_t i : UnmetAntiAffinity(node)) {
    keys.insert(anti_affinity_[i].topology_key());
  }
  for (const auto& [key, repelling] : repelling_) {
    if (RepellingPods(node, key)) keys.insert(key);
  }
  return keys;
}

const PlacedPod* PodRules::OnlyRepelling(const Node& node) const {
  std::set<const PlacedPod*> pods;
  for (const std::size_t i : UnmetAntiAffinity(node)) {
    const PodTerm& term = anti_affinity_[i];
    const PodsOfDomain& domain =
        *FindDomain(avoided_[i], node, term.topology_key());
    if (domain.count > 1 || term.Matches(pod_)) return nullptr;
    pods.insert(domain.first);
  }
  for (const auto& [key, repelling] : repelling_) {
    const PodsOfDomain* domain = RepellingPods(node, key);
    if (domain == nullptr) continue;
    const bool is_alike = domain->first->metadata.labels == pod_.labels;
    if (domain->count > 1 || is_alike) return nullptr;
    pods.insert(domain->first);
  }
  if (pods.size() != 1 || ComesBack((*pods.begin())->metadata)) return nullptr;
  return *pods.begin();
}

std::string PodRules::DomainOf(std::size_t affinity_term) const {
  const Domains& domains = required_[affinity_term];
  return domains.empty() ? "" : domains.begin()->first;
}

std::set<std::string> PodRules::OtherNamespaces(
    std::size_t affinity_term) const {
  return other_namespaces_[affinity_term];
}

}  // namespace minisched::explain
