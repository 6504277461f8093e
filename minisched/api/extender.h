// The responses of an HTTP extender to a scheduler. Follows
// k8s.io/kube-scheduler/extender/v1/types.go.
//
// FromJson<T>() reads ExtenderFilterResult, HostPriorityList,
// ExtenderPreemptionResult and ExtenderBindingResult as Go's encoding/json
// reads them for kube-scheduler: it ignores the case of a field's name and
// unknown fields, and null leaves the default, even as an element of a list or
// a map. Different from Go's Decoder:
// - It throws ParseError if anything but white space follows the JSON value, or
//   if a string is not valid Unicode.
// - It accepts nodes that are malformed apart from metadata.name.
// - If an object has a field's name in several cases, it prefers the exact
//   name. Go takes the last one.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "minisched/api/json.h"

namespace minisched {

// The nodes that the extender allows, and its reasons against the other nodes.
struct ExtenderFilterResult {
  // From Nodes: the names of its items. Unset: the response has no Nodes.
  std::optional<std::vector<std::string>> nodes;
  // From NodeNames. kube-scheduler only uses it if the extender is configured
  // as nodeCacheCapable, and then prefers it to Nodes.
  std::optional<std::vector<std::string>> node_names;
  std::map<std::string, std::string> failed_nodes;
  // Preemption can't make these nodes fit. This map takes precedence over
  // failed_nodes.
  std::map<std::string, std::string> failed_and_unresolvable_nodes;
  std::string error;  // empty: the call succeeded

  bool operator==(const ExtenderFilterResult&) const = default;
};

// The score of a node. Extenders score from 0 to 10, but FromJson() accepts any
// score, as upstream does.
struct HostPriority {
  std::string host;
  std::int64_t score = 0;

  bool operator==(const HostPriority&) const = default;
};

using HostPriorityList = std::vector<HostPriority>;

// A pod that is to be evicted.
struct MetaPod {
  std::string uid;

  bool operator==(const MetaPod&) const = default;
};

// The victims on a node.
struct MetaVictims {
  std::vector<MetaPod> pods;
  std::int64_t num_pdb_violations = 0;

  bool operator==(const MetaVictims&) const = default;
};

// The candidate nodes that the extender allows, and their victims.
struct ExtenderPreemptionResult {
  std::map<std::string, MetaVictims> node_name_to_meta_victims;

  bool operator==(const ExtenderPreemptionResult&) const = default;
};

struct ExtenderBindingResult {
  std::string error;  // empty: the call succeeded

  bool operator==(const ExtenderBindingResult&) const = default;
};

template <>
ExtenderFilterResult FromJson<ExtenderFilterResult>(std::string_view text,
                                                    bool);
template <>
HostPriorityList FromJson<HostPriorityList>(std::string_view text, bool);
template <>
ExtenderPreemptionResult FromJson<ExtenderPreemptionResult>(
    std::string_view text, bool);
template <>
ExtenderBindingResult FromJson<ExtenderBindingResult>(std::string_view text,
                                                      bool);

}  // namespace minisched
