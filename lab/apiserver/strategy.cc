#include "lab/apiserver/strategy.h"

#include "lab/apiserver/kinds/names.h"

namespace minisched::apiserver {

void Strategy::PrepareForUpdate(Json& object, const Json& old,
                                std::string_view subresource) const {
  if (subresource.empty()) return CopyMember(old, "status", object);
  Json changed = old;
  changed["metadata"] = object["metadata"];
  CopyMember(object, "status", changed);
  object = std::move(changed);
}

bool Strategy::HasFinalizers(const Json& object) const {
  return !Get(object, "metadata", "finalizers").empty();
}

Strategy::NameRule Strategy::name_rule() const { return CheckDns1123Subdomain; }

}  // namespace minisched::apiserver
