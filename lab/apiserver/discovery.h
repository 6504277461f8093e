#pragma once

#include <map>
#include <string>

#include "lab/apiserver/http/http.h"
#include "lab/apiserver/object.h"

namespace minisched::apiserver {

// Returns the server's discovery documents, keyed by path. Clients find the
// server's resources in them. They are made from AllResources().
//
//   /version
//   /api, /apis, /apis/GROUP             the groups and versions
//   /api/VERSION, /apis/GROUP/VERSION    their resources
//   /openapi/v3, /openapi/v3/apis/…      what `kubectl create` and `apply` look
//                                        for: whether the server validates
//                                        fields itself and supports dry runs
//
// `server_address` is the address of this server for clients: "host:port". The
// OpenAPI documents describe no fields, because kubectl merges built-in kinds
// by types of its own. Follows apiserver pkg/endpoints/discovery.
std::map<std::string, Json> DiscoveryDocuments(
    const std::string& server_address);

// Returns the aggregated form of /api and /apis, by path: an
// APIGroupDiscoveryList with all groups and all their resources. Follows
// apiserver pkg/endpoints/discovery/aggregated.
std::map<std::string, Json> AggregatedDiscoveryDocuments();

// True if the client accepts the aggregated form.
bool AcceptsAggregatedDiscovery(const Request& request);

}  // namespace minisched::apiserver
