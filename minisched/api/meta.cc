#include "minisched/api/meta.h"

namespace minisched {
namespace {

std::string Join(const std::string& namespace_name, const std::string& name) {
  return namespace_name.empty() ? name : namespace_name + "/" + name;
}

}  // namespace

std::string ObjectName(const ObjectMeta& metadata) {
  return Join(metadata.namespace_name, metadata.name);
}

std::string ObjectName(const MalformedObject& object) {
  return Join(object.namespace_name, object.name);
}

}  // namespace minisched
