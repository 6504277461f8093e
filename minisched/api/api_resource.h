#pragma once

#include <string>
#include <string_view>

namespace minisched {

// The place of a kind of object in the API. Each object type T has one, in
// T::kResource. The client needs nothing else of T.
struct ApiResource {
  std::string_view group;    // "" for the core group
  std::string_view version;  // "v1"
  std::string_view plural;   // "pods", as in URLs
  std::string_view kind;     // "Pod"
  bool namespaced;

  // Returns the apiVersion field of objects: "v1", "apps/v1".
  std::string ApiVersion() const;

  // Returns the path of the collection or, with a name, of the object:
  // "/api/v1/namespaces/default/pods/web-0". An empty `namespace_name` means
  // all namespaces; kinds without namespaces always have an empty one.
  // REQUIRES: for namespaced kinds, `name` only together with a namespace.
  std::string Path(std::string_view namespace_name,
                   std::string_view name = {}) const;
};

}  // namespace minisched
