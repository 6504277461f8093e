#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lab/scenario/fields.h"
#include "lab/scenario/scenario.h"

namespace minisched::scenario {

// Readers that turn a scenario's short forms into manifests. They throw
// CannotPlay.

// Reads an item of `create`: pods, a manifest, or a file in `directory`.
std::vector<Manifest> ReadManifests(const Field& item,
                                    const std::filesystem::path& directory);

// Reads an item of `nodes`.
std::vector<Manifest> ReadNodeManifests(const Field& item);

// Reads `faults` and returns the JSON document to send to the embedded server.
std::string ReadFaultDocument(const Field& field);

// Formats objects for the story: "20 pods web-1 … web-20", "Deployment web".
std::string DescribeObjects(const std::vector<Manifest>& objects);
std::string DescribeObject(const ObjectName& object);

}  // namespace minisched::scenario
