#pragma once

#include "lab/apiserver/http.h"
#include "lab/apiserver/registry.h"
#include "lab/apiserver/request_info.h"

namespace minisched::apiserver {

// Answers a request for a resource. Throws StatusError, or ParseError, which
// the client gets as a 400. Follows apiserver pkg/endpoints/handlers. Call it
// on the loop's thread only.
Reply ServeResource(Registry& registry, const Request& request,
                    const RequestInfo& info);

}  // namespace minisched::apiserver
