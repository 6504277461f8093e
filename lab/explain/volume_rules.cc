#include "lab/explain/volume_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/algorithm/string/replace.hpp>
#include <utility>

#include "lab/explain/causes.h"
#include "lab/explain/pod_rules.h"
#include "lab/explain/volume_texts.h"
#include "minisched/api/inline_disks.h"
#include "minisched/api/node_affinity.h"

namespace minisched::explain {
namespace {

const std::array<std::string, 4> kTopologyLabels = {
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region"};

bool HasTopology(const Node& node) {
  return std::ranges::any_of(kTopologyLabels, [&](const std::string& key) {
    return node.metadata.labels.contains(key);
  });
}

// Returns the key of the node's label that a volume's label is compared with.
std::string NodeKey(const Node& node, const std::string& key) {
  return node.metadata.labels.contains(key)
             ? key
             : boost::algorithm::replace_first_copy(key, "failure-domain.beta",
                                                    "topology");
}

// Returns true if the node has one of the values of a volume's label, or is in
// a cluster without zones. Follows plugins/volumezone.
bool IsIn(const Node& node, const std::string& key,
          const std::set<std::string>& values) {
  if (!HasTopology(node)) return true;
  const std::string* const value = LabelOf(node, NodeKey(node, key));
  return value != nullptr && values.contains(*value);
}

// Returns the place of the node by the first label that a selector with one
// term requires, and that the node has with another value, or lacks.
std::string OwnPlace(const NodeSelector& selector, const Node& node) {
  if (selector.node_selector_terms.size() != 1) return "";
  const auto unmet = UnmetRequirements(selector.node_selector_terms[0], node);
  return unmet.empty() ? "" : PlaceOf(node, unmet[0].key);
}

// Adds the labels that meet the first term. Returns false if other requirements
// than values of labels are in the way, or the name of a node.
bool MeetFirstTerm(const NodeSelector& selector, Labels& labels) {
  if (selector.node_selector_terms.empty()) return false;
  const NodeSelectorTerm& term = selector.node_selector_terms[0];
  for (const auto& [key, op, values] : term.match_expressions) {
    const bool is_name = key == "kubernetes.io/hostname";
    if (is_name || op != "In" || values.empty()) return false;
    labels.emplace(key, values[0]);
  }
  return term.match_fields.empty();
}

// Returns the disk of the pod that the other pod has, or null.
const Volume* SharedDisk(const Pod& pod, const PlacedPod& other) {
  Pod with_disks;
  with_disks.spec.volumes = other.disks;
  for (const Volume& volume : pod.spec.volumes) {
    Pod with_disk;
    with_disk.spec.volumes = {volume};
    if (DisksConflict(with_disk, with_disks)) return &volume;
  }
  return nullptr;
}

}  // namespace

VolumeRules::VolumeRules(const Pod& pod, const NodeStates& nodes,
                         VolumeObjects objects)
    : pod_(pod),
      nodes_(nodes),
      objects_(std::move(objects)),
      delayed_(pod, objects_) {
  for (const Volume& volume : pod.spec.volumes) {
    const auto name = ClaimName(pod, volume);
    const auto* const claim = name ? objects_.ClaimOf(pod, *name) : nullptr;
    if (claim == nullptr || !IsFullyBound(*claim)) continue;
    bound_.push_back({*name, claim->spec.volume_name, objects_.VolumeOf(*claim),
                      volume.ephemeral.has_value()});
  }
}

std::vector<std::string> VolumeRules::CausesOf(
    const Node& node, const std::string& plugin) const {
  if (plugin == "VolumeZone") return ZoneCauses(node);
  if (plugin == "VolumeBinding") {
    auto causes = AffinityCauses(node);
    for (std::string& cause : delayed_.CausesOf(node)) {
      causes.push_back(std::move(cause));
    }
    return causes;
  }
  std::vector<std::string> causes;
  if (plugin != "VolumeRestrictions") return causes;
  for (const auto& [pod, where, what] : UsersFor(node)) {
    causes.push_back(fmt::format("{} is in use by {}{}", what,
                                 ObjectName(pod->metadata),
                                 where.empty() ? "" : " on " + where));
  }
  return causes;
}

std::optional<Labels> VolumeRules::LabelsOfNewNode(const Node& node) const {
  if (!delayed_.CausesOf(node).empty()) return std::nullopt;
  Labels labels;
  for (const Bound& bound : bound_) {
    if (bound.volume == nullptr) return std::nullopt;
    const auto& affinity = bound.volume->spec.node_affinity;
    if (affinity && affinity->required &&
        !MeetFirstTerm(*affinity->required, labels)) {
      return std::nullopt;
    }
    for (const std::string& key : kTopologyLabels) {
      const Labels& own = bound.volume->metadata.labels;
      const auto label = own.find(key);
      const auto zones = label == own.end() ? std::set<std::string>()
                                            : LabelZonesToSet(label->second);
      if (!zones.empty()) labels.emplace(NodeKey(node, key), *zones.begin());
    }
  }
  std::erase_if(labels, [&](const auto& label) {
    const std::string* const value = LabelOf(node, label.first);
    return value != nullptr && *value == label.second;
  });
  return labels;
}

std::vector<VolumeUser> VolumeRules::UsersFor(const Node& node) const {
  std::vector<VolumeUser> users;
  const auto here = nodes_.find(node.metadata.name);
  if (here != nodes_.end()) {
    for (const PlacedPod& other : here->second.placed) {
      if (const Volume* disk = SharedDisk(pod_, other)) {
        users.push_back({&other, "", "the disk " + DiskName(*disk)});
      }
    }
  }
  for (const Volume& volume : pod_.spec.volumes) {
    if (!volume.persistent_volume_claim) continue;
    const std::string& name = volume.persistent_volume_claim->claim_name;
    const auto* const claim = objects_.ClaimOf(pod_, name);
    if (claim == nullptr ||
        std::ranges::count(claim->spec.access_modes, "ReadWriteOncePod") == 0) {
      continue;
    }
    const std::string key = ObjectName(claim->metadata);
    for (const auto& [node_name, state] : nodes_) {
      for (const PlacedPod& other : state.placed) {
        if (std::ranges::count(other.claims, key) == 0) continue;
        users.push_back({&other, node_name,
                         fmt::format("the claim {} (ReadWriteOncePod)", name)});
      }
    }
  }
  return users;
}

std::vector<std::string> VolumeRules::AffinityCauses(const Node& node) const {
  std::vector<std::string> causes;
  for (const Bound& bound : bound_) {
    if (bound.volume == nullptr) {
      causes.push_back(
          fmt::format("claim {} has the volume {}, which does not exist",
                      bound.claim, bound.volume_name));
      continue;
    }
    const auto& affinity = bound.volume->spec.node_affinity;
    if (!affinity || !affinity->required) continue;
    const NodeSelectorMatcher matcher(*affinity->required);
    const auto fits = [&](const Node& one) {
      return matcher.MatchesLabels(one.metadata.labels);
    };
    if (fits(node)) continue;
    causes.push_back(Elsewhere(bound, PlaceOf(*affinity->required),
                               OwnPlace(*affinity->required, node), fits));
  }
  return causes;
}

std::vector<std::string> VolumeRules::ZoneCauses(const Node& node) const {
  std::vector<std::string> causes;
  for (const Bound& bound : bound_) {
    if (bound.volume == nullptr || bound.is_ephemeral) continue;
    for (const std::string& key : kTopologyLabels) {
      const Labels& labels = bound.volume->metadata.labels;
      const auto label = labels.find(key);
      if (label == labels.end()) continue;
      const auto zones = LabelZonesToSet(label->second);
      const auto fits = [&](const Node& one) { return IsIn(one, key, zones); };
      if (zones.empty() || fits(node)) continue;
      causes.push_back(Elsewhere(bound,
                                 PlaceOf(key, {zones.begin(), zones.end()}),
                                 PlaceOf(node, NodeKey(node, key)), fits));
    }
  }
  return causes;
}

template <class Fits>
std::string VolumeRules::Elsewhere(const Bound& bound, const std::string& place,
                                   const std::string& own,
                                   const Fits& fits) const {
  std::vector<std::string> there;
  for (const auto& [name, state] : nodes_) {
    if (fits(state.node)) there.push_back(name);
  }
  std::string text = fmt::format("claim {} has its volume {} {}", bound.claim,
                                 bound.volume_name, place);
  if (there.empty()) return text + ", and no node is there";
  const std::string names = FirstOf(std::move(there));
  if (place != "on " + names) text += fmt::format(" ({})", names);
  return own.empty() ? text : text + ", " + own;
}

}  // namespace minisched::explain
