#pragma once

#include "minisched/apiserver/http/http.h"
#include "minisched/apiserver/registry.h"
#include "minisched/apiserver/request_info.h"

namespace minisched::apiserver {

// Answers a request for a resource. Throws StatusError, and ParseError for a
// 400. Follows apiserver pkg/endpoints/handlers. On the loop's thread only.
Reply ServeResource(Registry& registry, const Request& request,
                    const RequestInfo& info);

}  // namespace minisched::apiserver
