#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>

#include "minisched/api/api_resource.h"

namespace minisched::live {

// Returns the kinds of objects in an export, in an order in which they can be
// created: those that schedulers read, and the controllers of pods. A
// controller comes after its pods, because controllers adopt pods instead of
// creating others.
std::span<const ApiResource> ExportedResources();

// Returns null for a kind that is not exported.
const ApiResource* FindExported(const nlohmann::json& object);

// True for objects that every cluster has, and those in its own namespaces.
bool IsOfSystem(const nlohmann::json& object);

// True if the object is being deleted, or is a pod that has ended.
bool IsEnding(const nlohmann::json& object);

// Returns the object as it can be created: without what a server adds. A pod
// that has a node keeps it, and a node keeps its size and its images.
nlohmann::json NewObject(nlohmann::json object);

// Returns the object as it is exported: NewObject() with the owners and with
// the parts of the status that schedulers read.
nlohmann::json Exported(const nlohmann::json& object);

}  // namespace minisched::live
