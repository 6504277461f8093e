#include <algorithm>

#include "minisched/apiserver/names.h"
#include "minisched/apiserver/resources.h"
#include "minisched/apiserver/strategies.h"
#include "minisched/apiserver/validation.h"

namespace minisched::apiserver {
namespace {

// Those that a cluster can't be without.
bool IsImmortal(const std::string& name) {
  return name == "default" || name == "kube-system" || name == "kube-public";
}

// A namespace goes once spec.finalizers is empty, which is how it begins: with
// "kubernetes", that who empties it takes away.
class Namespaces : public Strategy {
 public:
  void SetDefaults(Json& object) const override {
    const std::string name = NameOf(object);
    if (name.empty()) return;
    object["metadata"]["labels"]["kubernetes.io/metadata.name"] = name;
  }

  void PrepareForCreate(Json& object, const Store& /*store*/) const override {
    SetDefaults(object);  // its name may have been made up since
    object["status"] = {{"phase", "Active"}};
    Json& finalizers = object["spec"]["finalizers"];
    if (std::find(finalizers.begin(), finalizers.end(), "kubernetes") ==
        finalizers.end()) {
      finalizers.push_back("kubernetes");
    }
  }

  void PrepareForUpdate(Json& object, const Json& old,
                        std::string_view subresource) const override {
    if (subresource == "status") {
      return Strategy::PrepareForUpdate(object, old, subresource);
    }
    object["status"] = Get(old, "status");
    if (subresource != "finalize") object["spec"] = Get(old, "spec");
  }

  void PrepareForDelete(Json& object) const override {
    object["metadata"].erase("deletionGracePeriodSeconds");
    if (IsImmortal(NameOf(object))) {
      throw Forbidden(GetResource("", "namespaces"), NameOf(object),
                      "this namespace may not be deleted");
    }
    object["status"]["phase"] = "Terminating";
  }

  void Validate(const Json& object, FieldErrors& errors) const override {
    const Json& finalizers = Get(object, "spec", "finalizers");
    for (std::size_t i = 0; i < finalizers.size(); ++i) {
      ValidateFinalizer(finalizers[i].get<std::string>(), i, "spec.finalizers",
                        errors);
    }
  }

  void ValidateUpdate(const Json& object, const Json& /*old*/,
                      std::string_view subresource,
                      FieldErrors& errors) const override {
    if (subresource != "status") return;
    const std::string phase = GetString(object, "status", "phase");
    const bool going = IsTerminating(object);
    if (phase == (going ? "Terminating" : "Active")) return;
    errors.Invalid(
        "status.Phase", phase,
        going ? "may only be 'Terminating' if `deletionTimestamp` is not empty"
              : "may only be 'Active' if `deletionTimestamp` is empty");
  }

  bool HasFinalizers(const Json& object) const override {
    return Strategy::HasFinalizers(object) ||
           !Get(object, "spec", "finalizers").empty();
  }

  NameRule name_rule() const override { return NameRule::kLabel; }
};

}  // namespace

const Strategy& NamespaceStrategy() {
  static const Namespaces strategy;
  return strategy;
}

}  // namespace minisched::apiserver
