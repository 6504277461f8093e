#pragma once

#include <string>
#include <utility>

#include "minisched/api/labels.h"
#include "minisched/api/node.h"

namespace minisched {

// The region and the zone of a node. Nodes without these labels have two empty
// strings, and so are in one zone.
using Zone = std::pair<std::string, std::string>;

// Returns the zone that the labels name. Deprecated labels take precedence.
// Follows GetZoneKey() of k8s.io/component-helpers/node/topology.
inline Zone ZoneOf(const Node& node) {
  const Labels& labels = node.metadata.labels;
  const auto value = [&](const char* deprecated, const char* label) {
    auto found = labels.find(deprecated);
    if (found == labels.end()) found = labels.find(label);
    return found == labels.end() ? std::string() : found->second;
  };
  return {value("failure-domain.beta.kubernetes.io/region",
                "topology.kubernetes.io/region"),
          value("failure-domain.beta.kubernetes.io/zone",
                "topology.kubernetes.io/zone")};
}

}  // namespace minisched
