#include <algorithm>

#include "minisched/apiserver/pod_validation.h"
#include "minisched/apiserver/strategies.h"

namespace minisched::apiserver {
namespace {

// What can be set once, but not changed.
void CheckSetOnce(const Json& old, const Field& field, const std::string& name,
                  FieldErrors& errors) {
  if (old.empty() || old == field.value()) return;
  errors.Forbidden(field.path(), "node updates may not change " + name +
                                     " except from \"\" to valid");
}

// podCIDR is the first of podCIDRs; where they differ, it is right.
void SetPodCidrs(Json& spec) {
  const Json first = Get(spec, "podCIDR");
  if (first.is_null()) {
    if (spec.contains("podCIDRs")) spec["podCIDR"] = spec["podCIDRs"][0];
  } else if (!spec.contains("podCIDRs") || spec["podCIDRs"][0] != first) {
    spec["podCIDRs"] = Json::array({first});
  }
}

class Nodes : public Strategy {
 public:
  void SetDefaults(Json& node) const override {
    SetPodCidrs(node["spec"]);
    const Json capacity = Get(node, "status", "capacity");
    if (capacity.is_null()) return;
    Json& status = node["status"];
    if (!status.contains("allocatable")) status["allocatable"] = capacity;
  }

  // A kubelet says all about its node when it registers, status included.
  void PrepareForCreate(Json& node, const Store& /*store*/) const override {
    node["spec"].erase("configSource");
    node["status"].erase("config");
  }

  void Validate(const Json& node, FieldErrors& errors) const override {
    ValidateTaints({Get(node, "spec", "taints"), "metadata.taints"}, errors);
    for (const char* list : {"capacity", "allocatable"}) {
      const Field field(Get(node, "status", list),
                        "status." + std::string(list));
      for (const auto& [name, quantity] : field.value().items()) {
        CheckQuantity(name, field[name], errors);
      }
    }
  }

  void ValidateUpdate(const Json& node, const Json& old,
                      std::string_view /*subresource*/,
                      FieldErrors& errors) const override {
    const Json& addresses = Get(node, "status", "addresses");
    for (auto it = addresses.begin(); it != addresses.end(); ++it) {
      if (std::find(addresses.begin(), it, *it) == it) continue;
      const auto index = std::to_string(it - addresses.begin());
      errors.Duplicate("status.addresses[" + index + "]", *it);
    }
    const Field spec = Field::SpecOf(node);
    CheckSetOnce(Get(old, "spec", "podCIDRs"), spec["podCIDRs"], "podCIDR",
                 errors);
    CheckSetOnce(Get(old, "spec", "providerID"), spec["providerID"],
                 "providerID", errors);
  }
};

}  // namespace

const Strategy& NodeStrategy() {
  static const Nodes strategy;
  return strategy;
}

}  // namespace minisched::apiserver
