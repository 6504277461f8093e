#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lab/scenario/fields.h"
#include "lab/scenario/scenario.h"

namespace minisched::scenario {

// The Read functions expand a scenario's short forms. They throw CannotPlay if
// the scenario is invalid.

// Reads an item of `create` or `apply`: pods, a manifest, or a file whose path
// is relative to `directory`.
std::vector<Manifest> ReadManifests(const Field& item,
                                    const std::filesystem::path& directory);

// Reads an item of `nodes`.
std::vector<Manifest> ReadNodeManifests(const Field& item);

// Reads `faults` and returns the JSON document to send to the embedded server.
std::string ReadFaultDocument(const Field& field);

// Format objects for the report: "20 pods web-1 … web-20", "Deployment web".
// `objects` must not be empty.
std::string DescribeObjects(const std::vector<Manifest>& objects);
std::string DescribeObject(const ObjectName& object);

}  // namespace minisched::scenario
