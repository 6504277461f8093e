#pragma once

#include <string>
#include <string_view>

namespace minisched {

// Where a kind of object lives in the API. Each object type T says so in
// T::kResource; that is all the client needs to know of it.
struct ApiResource {
  std::string_view group;    // "" for the core group
  std::string_view version;  // "v1"
  std::string_view plural;   // "pods", as in URLs
  std::string_view kind;     // "Pod"
  bool namespaced;

  // As objects carry it: "v1", "apps/v1".
  std::string ApiVersion() const;

  // The path of the collection, or of the object where a name is given:
  // "/api/v1/namespaces/default/pods/web-0". An empty `namespace_name` means
  // all namespaces, or none where the kind has none.
  // REQUIRES: `name` only together with a namespace, for namespaced kinds.
  std::string Path(std::string_view namespace_name,
                   std::string_view name = {}) const;
};

}  // namespace minisched
