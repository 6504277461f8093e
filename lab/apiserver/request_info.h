#pragma once

#include <optional>
#include <string>

#include "lab/apiserver/http/http.h"
#include "lab/apiserver/resources.h"

namespace minisched::apiserver {

// The resource, object and verb of a request. Follows apiserver
// pkg/endpoints/request/requestinfo.go.
struct RequestInfo {
  const ResourceRow* row = nullptr;
  std::string ns;
  std::string name;
  std::string subresource;
  // "get", "list", "watch", "create", "update", "patch", "delete",
  // "deletecollection": as in metrics and RBAC.
  std::string verb;

  // Returns nullopt if the path leads to no resource of this server.
  static std::optional<RequestInfo> Parse(const Request& request);
};

}  // namespace minisched::apiserver
