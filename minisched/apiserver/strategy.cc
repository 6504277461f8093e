#include "minisched/apiserver/strategy.h"

namespace minisched::apiserver {

void Strategy::PrepareForUpdate(Json& object, const Json& old,
                                std::string_view subresource) const {
  const auto restore = [&](const std::string& key) {
    if (old.contains(key)) {
      object[key] = old[key];
    } else {
      object.erase(key);
    }
  };
  if (subresource.empty()) return restore("status");
  Json changed = {{"metadata", object["metadata"]}};
  if (object.contains("status")) changed["status"] = object["status"];
  object = old;
  object.erase("status");
  object.update(changed);
}

bool Strategy::HasFinalizers(const Json& object) const {
  return !Get(object, "metadata", "finalizers").empty();
}

}  // namespace minisched::apiserver
