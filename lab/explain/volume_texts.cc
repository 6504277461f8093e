#include "lab/explain/volume_texts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>

#include "lab/explain/causes.h"
#include "lab/explain/pod_rules.h"
#include "minisched/api/parse_error.h"

namespace minisched::explain {
namespace {

constexpr std::size_t kMaxTexts = 3;
constexpr char kNameLabel[] = "kubernetes.io/hostname";

// Returns "zone" or "region" for the key of a label with zones or regions; else
// returns "".
std::string SortOfPlace(const std::string& key) {
  const std::string name = key.substr(key.rfind('/') + 1);
  return name == "zone" || name == "region" ? name : "";
}

Quantity StorageIn(const ResourceList& resources) {
  const auto storage = resources.find("storage");
  return storage == resources.end() ? Quantity() : storage->second;
}

std::string ModeOf(const std::string& volume_mode) {
  return volume_mode.empty() ? "Filesystem" : volume_mode;
}

bool SelectsVolume(const PersistentVolumeClaim& claim,
                   const PersistentVolume& volume) {
  if (!claim.spec.selector) return true;
  try {
    return Selector::FromLabelSelector(*claim.spec.selector)
        .Matches(volume.metadata.labels);
  } catch (const ParseError&) {
    return false;
  }
}

std::string PlaceOfTerm(const NodeSelectorTerm& term) {
  std::vector<std::string> places;
  for (const auto* list : {&term.match_expressions, &term.match_fields}) {
    for (const NodeSelectorRequirement& one : *list) {
      places.push_back(one.op == "In" ? PlaceOf(one.key, one.values)
                                      : "where " + ToString(one));
    }
  }
  return places.empty() ? "nowhere"
                        : fmt::format("{}", fmt::join(places, ", "));
}

}  // namespace

Quantity StorageOf(const PersistentVolumeClaim& claim) {
  return StorageIn(claim.spec.resources.requests);
}

Quantity StorageOf(const PersistentVolume& volume) {
  return StorageIn(volume.spec.capacity);
}

bool IsReservedFor(const PersistentVolume& volume,
                   const PersistentVolumeClaim& claim) {
  const auto& owner = volume.spec.claim_ref;
  return owner && owner->name == claim.metadata.name &&
         owner->namespace_name == claim.metadata.namespace_name &&
         (owner->uid.empty() || owner->uid == claim.metadata.uid);
}

std::string Mismatch(const PersistentVolume& volume,
                     const PersistentVolumeClaim& claim) {
  const auto& [spec, wants] = std::tie(volume.spec, claim.spec);
  const bool is_reserved = IsReservedFor(volume, claim);
  if (spec.claim_ref && !is_reserved) {
    return fmt::format(
        "{} {}/{}", volume.status.phase == "Released" ? "was of" : "belongs to",
        spec.claim_ref->namespace_name, spec.claim_ref->name);
  }
  if (volume.metadata.deletion_timestamp) return "is being deleted";
  if (StorageOf(volume) < StorageOf(claim)) {
    return fmt::format("has {}, not {}", StorageOf(volume).ToString(),
                       StorageOf(claim).ToString());
  }
  if (ModeOf(spec.volume_mode) != ModeOf(wants.volume_mode)) {
    return "has the mode " + ModeOf(spec.volume_mode);
  }
  if (spec.volume_attributes_class_name != wants.volume_attributes_class_name) {
    return "has another VolumeAttributesClass";
  }
  for (const std::string& mode : wants.access_modes) {
    if (std::ranges::count(spec.access_modes, mode) == 0) {
      return "lacks the access mode " + mode;
    }
  }
  if (is_reserved) return "";
  if (volume.status.phase != "Available") return "is " + volume.status.phase;
  return SelectsVolume(claim, volume) ? "" : "doesn't match the selector";
}

std::string PlaceOf(const std::string& key,
                    const std::vector<std::string>& values) {
  const std::string any = fmt::format("{}", fmt::join(values, " or "));
  if (key == kNameLabel) return "on " + any;
  const std::string sort = SortOfPlace(key);
  return sort.empty() ? fmt::format("where {} is {}", key, any)
                      : fmt::format("in {} {}", sort, any);
}

std::string PlaceOf(const NodeSelector& selector) {
  std::vector<std::string> places;
  for (const NodeSelectorTerm& term : selector.node_selector_terms) {
    places.push_back(PlaceOfTerm(term));
  }
  return FirstOf(std::move(places), " or ");
}

std::string PlaceOf(const Node& node, const std::string& key) {
  if (key == kNameLabel) return "";
  const std::string* const value = LabelOf(node, key);
  if (value == nullptr) return "the node has no label " + key;
  const std::string sort = SortOfPlace(key);
  return sort.empty() ? fmt::format("the node has {}={}", key, *value)
                      : fmt::format("the node is in {} {}", sort, *value);
}

std::string FirstOf(std::vector<std::string> texts, const char* separator) {
  const std::size_t count = texts.size();
  if (count <= kMaxTexts) {
    return fmt::format("{}", fmt::join(texts, separator));
  }
  texts.resize(kMaxTexts - 1);
  return fmt::format("{} and {} more", fmt::join(texts, separator),
                     count - texts.size());
}

std::string DiskName(const Volume& volume) {
  if (volume.gce_persistent_disk) return volume.gce_persistent_disk->pd_name;
  if (volume.aws_elastic_block_store) {
    return volume.aws_elastic_block_store->volume_id;
  }
  if (volume.iscsi) return volume.iscsi->iqn;
  if (volume.rbd) return volume.rbd->pool + "/" + volume.rbd->image;
  return volume.name;
}

}  // namespace minisched::explain
