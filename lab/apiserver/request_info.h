#pragma once

#include <optional>
#include <string>

#include "lab/apiserver/http/http.h"
#include "lab/apiserver/resources.h"

namespace minisched::apiserver {

// What a request to a path of the API is about. Follows apiserver
// pkg/endpoints/request/requestinfo.go.
struct RequestInfo {
  const ResourceRow* row = nullptr;
  std::string ns;
  std::string name;
  std::string subresource;
  // "get", "list", "watch", "create", "update", "patch", "delete",
  // "deletecollection": as in metrics and RBAC.
  std::string verb;

  // nullopt where the path leads to no resource that is served.
  static std::optional<RequestInfo> Parse(const Request& request);
};

}  // namespace minisched::apiserver
