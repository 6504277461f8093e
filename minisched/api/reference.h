#pragma once

#include <string>
#include <tuple>

namespace minisched {

// Names an object of any kind; core/v1's ObjectReference.
struct ObjectReference {
  std::string api_version;
  std::string kind;
  std::string namespace_name;
  std::string name;
  std::string uid;

  bool operator==(const ObjectReference&) const = default;
  // An arbitrary order, for maps.
  friend bool operator<(const ObjectReference& a, const ObjectReference& b) {
    const auto tie = [](const ObjectReference& it) {
      return std::tie(it.api_version, it.kind, it.namespace_name, it.name,
                      it.uid);
    };
    return tie(a) < tie(b);
  }
};

// Returns a reference to an object. Follows client-go tools/reference/ref.go,
// but leaves out the resource version: a changed object keeps its reference.
template <class T>
ObjectReference GetReference(const T& object) {
  return {.api_version = T::kResource.ApiVersion(),
          .kind = std::string(T::kResource.kind),
          .namespace_name = object.metadata.namespace_name,
          .name = object.metadata.name,
          .uid = object.metadata.uid};
}

}  // namespace minisched
