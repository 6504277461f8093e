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
//   /openapi/v3, /openapi/v3/…           the query parameters of PATCH, in
//                                        which `kubectl create` and `apply`
//                                        look for dryRun and fieldValidation
//
// `server_address` is the address of this server for clients: "host:port". The
// OpenAPI documents describe no fields, because kubectl can merge objects of
// built-in kinds by its own Go types. Follows apiserver
// pkg/endpoints/discovery.
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
