#pragma once

#include <string>
#include <vector>

#include "minisched/api/node.h"
#include "minisched/api/persistent_volume.h"
#include "minisched/api/pod.h"

namespace minisched::explain {

// What an answer shows of volumes.

// Returns why the volume can't be bound to the claim, whatever the node:
// "has 1Gi, not 5Gi". Returns "" if the volume can be bound. Ignores the
// classes. Follows FindMatchingVolume() of component-helpers.
std::string Mismatch(const PersistentVolume& volume,
                     const PersistentVolumeClaim& claim);

// Returns true if the volume's claimRef names the claim.
bool IsReservedFor(const PersistentVolume& volume,
                   const PersistentVolumeClaim& claim);

// Returns the requested size, and the size of the volume.
Quantity StorageOf(const PersistentVolumeClaim& claim);
Quantity StorageOf(const PersistentVolume& volume);

// Returns where the nodes with one of the values of a label are: "in zone a or
// b", "on node-1", "where disk is ssd".
std::string PlaceOf(const std::string& key,
                    const std::vector<std::string>& values);
// Returns where the nodes that match the selector are.
std::string PlaceOf(const NodeSelector& selector);

// Returns where the node is: "the node is in zone a", "the node has disk=hdd",
// "the node has no label disk". Returns "" for the label with the node's name.
std::string PlaceOf(const Node& node, const std::string& key);

// Returns "a, b, c" or "a, b and 7 more".
std::string FirstOf(std::vector<std::string> texts,
                    const char* separator = ", ");

// Returns the name of a volume's inline disk.
std::string DiskName(const Volume& volume);

}  // namespace minisched::explain
