#pragma once

#include <optional>
#include <string>

#include "lab/apiserver/http.h"
#include "lab/apiserver/resources.h"

namespace minisched::apiserver {

// The resource, object and verb of a request. Follows apiserver
// pkg/endpoints/request/requestinfo.go.
struct RequestInfo {
  const ResourceRow* row = nullptr;
  std::string ns;           // "" if the path has none
  std::string name;         // "" if the path is that of a collection
  std::string subresource;  // "" if the path has none
  // The verb of RBAC: "get", "list", "watch", "create", "update", "patch",
  // "delete" or "deletecollection". "" for a method without a verb.
  std::string verb;

  // Parses the path, method and query of a request. Returns nullopt if the path
  // is not that of a resource or subresource of this server.
  static std::optional<RequestInfo> Parse(const Request& request);
};

}  // namespace minisched::apiserver
