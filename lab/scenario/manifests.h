#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lab/scenario/fields.h"
#include "lab/scenario/scenario.h"

namespace minisched::scenario {

// The objects that a scenario makes, from their short forms. All throw
// CannotPlay.

// Of an item of `create`: pods, a manifest, or a file of them in `directory`.
std::vector<Manifest> ReadManifests(const Field& item,
                                    const std::filesystem::path& directory);

// Of an item of `nodes`.
std::vector<Manifest> ReadNodeManifests(const Field& item);

// What the embedded server is to be told, of `faults`.
std::string ReadFaultDocument(const Field& field);

// "20 pods web-1 … web-20", "Deployment web".
std::string TellObjects(const std::vector<Manifest>& objects);
std::string TellObject(const ObjectName& object);

}  // namespace minisched::scenario
