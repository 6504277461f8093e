#pragma once

#include <string_view>

#include "minisched/apiserver/object.h"

namespace minisched::apiserver {

// The API's own description, as OpenAPI v3. It says as much as clients need:
// kubectl looks there for what a PATCH takes, for how lists are merged (apply,
// diff) and for the names and types of fields (explain). There are no texts.

// /openapi/v3: where the documents are. Their URLs have a hash in them that
// changes with the content, so that clients may keep what they have.
const Json& OpenApiV3Index();

// /openapi/v3/api/v1 and /openapi/v3/apis/GROUP/VERSION; null where there is no
// such group.
const Json& OpenApiV3(std::string_view group, std::string_view version);

}  // namespace minisched::apiserver
