#pragma once

#include <map>
#include <string>

#include "lab/apiserver/http/http.h"
#include "lab/apiserver/object.h"

namespace minisched::apiserver {

// What clients read to learn what there is, by path; made of AllResources().
//
//   /version
//   /api, /apis, /apis/GROUP             which groups and versions there are
//   /api/VERSION, /apis/GROUP/VERSION    their resources
//   /openapi/v3, /openapi/v3/apis/…      what `kubectl create` and `apply` look
//                                        for: whether the server validates
//                                        fields itself and knows dry runs
//
// `server_address` is where clients reach this server: "host:port". Follows
// apiserver pkg/endpoints/discovery. OpenAPI says nothing of the fields:
// kubectl merges by the types that it was built with.
std::map<std::string, Json> DiscoveryDocuments(
    const std::string& server_address);

// The aggregated form of /api and /apis, by path: an APIGroupDiscoveryList has
// all groups with all their resources. Follows apiserver
// pkg/endpoints/discovery/aggregated.
std::map<std::string, Json> AggregatedDiscoveryDocuments();

// Whether the client accepts the aggregated form.
bool AcceptsAggregatedDiscovery(const Request& request);

}  // namespace minisched::apiserver
