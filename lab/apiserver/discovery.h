#pragma once

#include <map>
#include <string>

#include "lab/apiserver/http.h"
#include "lab/apiserver/object.h"

namespace minisched::apiserver {

// Returns the server's discovery documents, keyed by path:
//
//   /version                             the version of this server
//   /api                                 the version of the core group, and
//                                        `server_address`
//   /apis, /apis/GROUP                   the other groups and their versions
//   /api/VERSION, /apis/GROUP/VERSION    the resources of a group
//   /openapi/v3                          the paths of the following documents
//   /openapi/v3/api/VERSION,
//   /openapi/v3/apis/GROUP/VERSION       the query parameters of PATCH
//
// The resources are those of AllResources(). `server_address` is the address of
// this server for clients: "host:port".
//
// kubectl looks for fieldValidation among the parameters of PATCH before it
// creates, applies or replaces an object. The OpenAPI documents describe no
// fields. `kubectl apply` does not need them: it computes patches for built-in
// kinds with its own Go types. Follows apiserver pkg/endpoints/discovery.
std::map<std::string, Json> DiscoveryDocuments(
    const std::string& server_address);

// Returns the aggregated discovery documents, keyed by path: "/api" for the
// core group, "/apis" for the other groups. Each document is an
// APIGroupDiscoveryList of the groups with all their resources. Follows
// apiserver pkg/endpoints/discovery/aggregated.
std::map<std::string, Json> AggregatedDiscoveryDocuments();

// True if the client accepts an aggregated discovery document.
bool AcceptsAggregatedDiscovery(const Request& request);

}  // namespace minisched::apiserver
