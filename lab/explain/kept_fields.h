#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "lab/apiserver/resources.h"

namespace minisched::explain {

// Returns the kinds of objects that schedulers read.
std::vector<const apiserver::ResourceRow*> KeptKinds();

// True if KeptKinds() has the object's kind.
bool IsKeptKind(const nlohmann::json& object);

// Removes all fields that no scheduler reads: the copy has no authentication,
// so it must not have anybody's environment variables or annotations. Leaves
// values of wrong types as they are: Server::Restore() refuses them.
// REQUIRES: IsKeptKind(object).
void KeepFields(nlohmann::json& object);

}  // namespace minisched::explain
