#pragma once

#include <string_view>

#include "minisched/apiserver/object.h"

namespace minisched::apiserver {

// The API's own description, as OpenAPI v3, as far as `kubectl create` and
// `apply` look there: whether the server validates fields itself and knows dry
// runs. It says nothing of the fields: kubectl merges by the types that it was
// built with.

// /openapi/v3: where the documents are.
Json OpenApiV3Index();

// /openapi/v3/api/v1 and /openapi/v3/apis/GROUP/VERSION; null where there is no
// such group.
Json OpenApiV3(std::string_view group, std::string_view version);

}  // namespace minisched::apiserver
