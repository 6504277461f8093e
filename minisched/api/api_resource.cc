#include "minisched/api/api_resource.h"

namespace minisched {

std::string ApiResource::ApiVersion() const {
  std::string result;
  if (!group.empty()) result.append(group).append("/");
  return result.append(version);
}

std::string ApiResource::Path(std::string_view namespace_name,
                              std::string_view name) const {
  std::string path = group.empty() ? "/api/" : "/apis/";
  path += ApiVersion();
  if (namespaced && !namespace_name.empty()) {
    path.append("/namespaces/").append(namespace_name);
  }
  path.append("/").append(plural);
  if (!name.empty()) path.append("/").append(name);
  return path;
}

}  // namespace minisched
