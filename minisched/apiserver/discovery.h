#pragma once

#include <string>
#include <string_view>

#include "minisched/apiserver/object.h"

namespace minisched::apiserver {

// What clients read to learn what there is: documents made of AllResources().
// Follows apiserver pkg/endpoints/discovery; clients that would rather have it
// all in one document, which there isn't, fall back on these. Those that don't
// find what they are asked for throw PathNotFound().

// GET /api. `server_address` is where clients reach this server: "host:port".
Json ApiVersions(const std::string& server_address);
// GET /apis and /apis/GROUP
Json ApiGroupList();
Json ApiGroup(std::string_view group);
// GET /api/VERSION (`group` is "") and /apis/GROUP/VERSION
Json ApiResourceList(std::string_view group, std::string_view version);

// GET /version
Json VersionInfo();

}  // namespace minisched::apiserver
