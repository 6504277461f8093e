#include "lab/explain/delayed_claims.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "lab/explain/volume_texts.h"
#include "minisched/api/node_affinity.h"
#include "minisched/api/parse_error.h"

namespace minisched::explain {
namespace {

constexpr char kSelectedNode[] = "volume.kubernetes.io/selected-node";

bool FitsNode(const PersistentVolume& volume, const Node& node) {
  const auto& affinity = volume.spec.node_affinity;
  return !affinity || !affinity->required ||
         NodeSelectorMatcher(*affinity->required)
             .MatchesLabels(node.metadata.labels);
}

// Returns why the class makes no volumes for the node, or "".
std::string ExcludingTopology(const StorageClass& its_class, const Node& node) {
  std::vector<std::string> places;
  for (const TopologySelectorTerm& term : its_class.allowed_topologies) {
    bool matches = true;
    std::vector<std::string> place;
    for (const auto& [key, values] : term.match_label_expressions) {
      const auto label = node.metadata.labels.find(key);
      matches = matches && label != node.metadata.labels.end() &&
                std::ranges::count(values, label->second) > 0;
      place.push_back(PlaceOf(key, values));
    }
    if (matches) return "";
    places.push_back(fmt::format("{}", fmt::join(place, ", ")));
  }
  return places.empty() ? ""
                        : fmt::format("its class {} makes volumes only {}",
                                      its_class.metadata.name,
                                      FirstOf(std::move(places), " or "));
}

bool IsFor(const CSIStorageCapacity& capacity, const Node& node) {
  if (!capacity.node_topology) return false;
  try {
    return Selector::FromLabelSelector(*capacity.node_topology)
        .Matches(node.metadata.labels);
  } catch (const ParseError&) {
    return false;
  }
}

}  // namespace

DelayedClaims::DelayedClaims(const Pod& pod, const VolumeObjects& objects)
    : objects_(objects) {
  for (const Volume& volume : pod.spec.volumes) {
    const auto name = ClaimName(pod, volume);
    const auto* const claim = name ? objects.ClaimOf(pod, *name) : nullptr;
    if (claim != nullptr && objects.IsDelayed(*claim)) claims_.push_back(claim);
  }
  std::ranges::stable_sort(claims_, [](const auto* a, const auto* b) {
    return StorageOf(*a) < StorageOf(*b);
  });
}

std::vector<std::string> DelayedClaims::CausesOf(const Node& node) const {
  std::vector<std::string> causes;
  for (const Match& match : FindMatches(node)) {
    if (match.cause.empty()) continue;
    causes.push_back(
        fmt::format("claim {}: {}", match.claim->metadata.name, match.cause));
  }
  return causes;
}

std::string DelayedClaims::Possible(const Node& node) const {
  std::vector<std::string> texts;
  for (const Match& match : FindMatches(node)) {
    const std::string& name = match.claim->metadata.name;
    texts.push_back(match.volume != nullptr
                        ? fmt::format("claim {} can get the volume {}", name,
                                      match.volume->metadata.name)
                        : fmt::format("claim {} needs a volume from {}", name,
                                      match.provisioner));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::vector<DelayedClaims::Match> DelayedClaims::FindMatches(
    const Node& node) const {
  std::vector<Match> matches;
  for (const PersistentVolumeClaim* claim : claims_) {
    matches.push_back(FindMatch(*claim, node, matches));
  }
  return matches;
}

DelayedClaims::Match DelayedClaims::FindMatch(
    const PersistentVolumeClaim& claim, const Node& node,
    const std::vector<Match>& earlier) const {
  const auto selected = claim.metadata.annotations.find(kSelectedNode);
  if (selected != claim.metadata.annotations.end() &&
      selected->second != node.metadata.name) {
    return {.claim = &claim,
            .cause = "its volume is made for the node " + selected->second};
  }
  Match match{.claim = &claim};
  std::vector<std::string> mismatches;
  for (const PersistentVolume* volume : objects_.CandidatesFor(claim)) {
    std::string wrong = Mismatch(*volume, claim);
    const auto taken = std::ranges::find(earlier, volume, &Match::volume);
    if (taken != earlier.end()) {
      wrong = "goes to the claim " + taken->claim->metadata.name;
    }
    if (wrong.empty() && !FitsNode(*volume, node)) {
      wrong = "is " + PlaceOf(*volume->spec.node_affinity->required);
    }
    if (!wrong.empty()) {
      mismatches.push_back(volume->metadata.name + " " + wrong);
    } else if (match.volume == nullptr ||
               StorageOf(*volume) < StorageOf(*match.volume)) {
      match.volume = volume;
    }
  }
  return match.volume != nullptr ? match : Provisioned(claim, node, mismatches);
}

DelayedClaims::Match DelayedClaims::Provisioned(
    const PersistentVolumeClaim& claim, const Node& node,
    const std::vector<std::string>& mismatches) const {
  const StorageClass& its_class = *objects_.ClassOf(claim);
  const std::string& name = its_class.metadata.name;
  std::string excluding = ExcludingTopology(its_class, node);
  if (excluding.empty()) excluding = LackingStorage(claim, node);
  if (!IsStatic(its_class) && excluding.empty()) {
    return {.claim = &claim, .provisioner = its_class.provisioner};
  }
  std::string cause = !IsStatic(its_class) ? excluding
                      : mismatches.empty()
                          ? fmt::format("its class {} has no volumes", name)
                          : fmt::format("no volume of its class {} fits", name);
  if (!mismatches.empty()) cause += ": " + FirstOf(mismatches);
  return {.claim = &claim, .cause = std::move(cause)};
}

std::string DelayedClaims::LackingStorage(const PersistentVolumeClaim& claim,
                                          const Node& node) const {
  const StorageClass& its_class = *objects_.ClassOf(claim);
  const std::string& name = its_class.metadata.name;
  const auto driver = objects_.drivers.find(its_class.provisioner);
  if (driver == objects_.drivers.end() ||
      !driver->second.spec.storage_capacity) {
    return "";
  }
  std::optional<Quantity> most;
  for (const CSIStorageCapacity& capacity : objects_.capacities) {
    if (capacity.storage_class_name == name && IsFor(capacity, node)) {
      most = std::max(most, VolumeLimit(capacity));
    }
  }
  if (!most) return fmt::format("its class {} has no storage here", name);
  if (*most >= StorageOf(claim)) return "";
  return fmt::format("its class {} has {} here, not {}", name, most->ToString(),
                     StorageOf(claim).ToString());
}

}  // namespace minisched::explain
