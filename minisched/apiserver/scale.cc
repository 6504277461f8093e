#include "minisched/apiserver/scale.h"

#include "minisched/apiserver/errors.h"
#include "minisched/apiserver/resources.h"
#include "minisched/apiserver/selectors.h"

namespace minisched::apiserver {
namespace {

constexpr const char* kShared[] = {"name", "namespace", "uid",
                                   "resourceVersion", "creationTimestamp"};

}  // namespace

Json ScaleOf(const Json& object) {
  Json metadata = Json::object();
  for (const char* key : kShared) {
    const Json& value = Get(object, "metadata", key);
    if (!value.is_null()) metadata[key] = value;
  }
  Json scale = {
      {"apiVersion", "autoscaling/v1"},
      {"kind", "Scale"},
      {"metadata", std::move(metadata)},
      {"spec", Json::object()},
      {"status", {{"replicas", GetInt(object, "status", "replicas")}}}};
  if (const auto replicas = GetInt(object, "spec", "replicas")) {
    scale["spec"]["replicas"] = replicas;
  }
  const std::string selector = SelectorText(Get(object, "spec", "selector"));
  if (!selector.empty()) scale["status"]["selector"] = selector;
  return scale;
}

Json WithScale(const Json& object, const Json& scale) {
  const std::int64_t replicas = GetInt(scale, "spec", "replicas");
  FieldErrors errors;
  if (replicas < 0) {
    errors.Invalid("spec.replicas", replicas,
                   "must be greater than or equal to 0");
  }
  errors.ThrowIfAny({.group = "autoscaling", .version = "v1", .kind = "Scale"},
                    NameOf(object));
  Json scaled = object;
  scaled["spec"]["replicas"] = replicas;
  const Json& version = Get(scale, "metadata", "resourceVersion");
  if (version.is_null()) {
    scaled["metadata"].erase("resourceVersion");
  } else {
    scaled["metadata"]["resourceVersion"] = version;
  }
  return scaled;
}

}  // namespace minisched::apiserver
