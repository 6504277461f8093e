#include "lab/apiserver/kinds/defaults.h"
#include "lab/apiserver/kinds/names.h"
#include "lab/apiserver/kinds/pod_validation.h"
#include "lab/apiserver/kinds/strategies.h"
#include "lab/apiserver/kinds/validation.h"
#include "lab/apiserver/resources.h"

// The strategies of kinds with few rules. Follows kubernetes
// pkg/apis/{core,scheduling,policy,coordination}.

namespace minisched::apiserver {
namespace {

class Nodes : public Strategy {
 public:
  void SetDefaults(Json& node) const override {
    SetDefault(node["status"], "allocatable", Get(node, "status", "capacity"));
  }

  // Keeps the status, which a kubelet sends when it registers its node.
  void PrepareForCreate(Json& /*node*/, const Store& /*store*/) const override {
  }

  void Validate(const Json& node, FieldErrors& errors) const override {
    ValidateTaints({Get(node, "spec", "taints"), "metadata.taints", errors});
    const Field status = Field::Of(node, "status", errors);
    for (const char* list : {"capacity", "allocatable"}) {
      for (const auto& [name, quantity] : status[list].value().items()) {
        status[list][name].QuantityOf(name);
      }
    }
  }
};

// A deleted namespace stays until its spec.finalizers is empty. Each namespace
// starts with the finalizer "kubernetes". The namespace controller removes this
// finalizer when the namespace has no objects left.
class Namespaces : public Strategy {
 public:
  void SetDefaults(Json& object) const override {
    const std::string name = NameOf(object);
    if (name.empty()) return;
    object["metadata"]["labels"]["kubernetes.io/metadata.name"] = name;
  }

  void PrepareForCreate(Json& object, const Store& /*store*/) const override {
    // A generated name was still missing when SetDefaults() was first called.
    SetDefaults(object);
    object["status"] = {{"phase", "Active"}};
    object["spec"]["finalizers"] = Json::array({"kubernetes"});
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
    const std::string name = NameOf(object);
    // A cluster needs these namespaces.
    if (name == "default" || name == "kube-system" || name == "kube-public") {
      throw Forbidden(GetResource("", "namespaces"), name,
                      "this namespace may not be deleted");
    }
    object["status"]["phase"] = "Terminating";
  }

  bool HasFinalizers(const Json& object) const override {
    return Strategy::HasFinalizers(object) ||
           !Get(object, "spec", "finalizers").empty();
  }

  NameRule name_rule() const override { return CheckDns1123Label; }
};

class PriorityClasses : public Strategy {
 public:
  void SetDefaults(Json& object) const override {
    SetDefault(object, "preemptionPolicy", "PreemptLowerPriority");
  }

  void PrepareForCreate(Json& object, const Store& /*store*/) const override {
    object["metadata"]["generation"] = 1;  // updates keep it
  }

  void PrepareForDelete(Json& object) const override {
    if (!NameOf(object).starts_with("system-")) return;
    throw Forbidden(GetResource("scheduling.k8s.io", "priorityclasses"),
                    NameOf(object),
                    "this is a system priority class and cannot be deleted");
  }

  void Validate(const Json& object, FieldErrors& errors) const override {
    const std::string name = NameOf(object);
    const bool of_the_system =
        name == "system-node-critical" || name == "system-cluster-critical";
    if (name.starts_with("system-") && !of_the_system) {
      errors.Forbidden("metadata.name",
                       "priority class names with 'system-' prefix are "
                       "reserved for system use only. error: " +
                           name + " is not a known system priority class");
    } else if (!of_the_system && GetInt(object, "value") > 1'000'000'000) {
      errors.Forbidden("value",
                       "maximum allowed value of a user defined priority is "
                       "1000000000");
    }
    Field::Of(object, "preemptionPolicy", errors)
        .OneOf({"PreemptLowerPriority", "Never"});
  }

  void ValidateUpdate(const Json& object, const Json& old,
                      std::string_view /*subresource*/,
                      FieldErrors& errors) const override {
    if (GetInt(object, "value") != GetInt(old, "value")) {
      errors.Forbidden("value", "may not be changed in an update.");
    }
    Field::Of(object, "preemptionPolicy", errors)
        .Unchanged(Get(old, "preemptionPolicy"));
  }
};

class PodDisruptionBudgets : public Strategy {
 public:
  void Validate(const Json& object, FieldErrors& errors) const override {
    const Field spec = Field::Of(object, "spec", errors);
    const Field minimum = spec["minAvailable"];
    const Field maximum = spec["maxUnavailable"];
    if (minimum.exists() && maximum.exists()) {
      spec.Invalid("minAvailable and maxUnavailable cannot be both set");
    }
    minimum.IntOrPercent(/*at_most_all=*/true);
    maximum.IntOrPercent(/*at_most_all=*/true);
    ValidateLabelSelector(spec["selector"]);
    spec["unhealthyPodEvictionPolicy"].OneOf(
        {"AlwaysAllow", "IfHealthyBudget"});
  }

  bool has_generation() const override { return true; }
  bool allow_unconditional_update() const override { return false; }
};

// Events are in the form of the core group (views.h). client-go has an event
// recorder for each of the two APIs for events, and both kinds of events are
// valid here.
class Events : public Strategy {
 public:
  void Validate(const Json& event, FieldErrors& errors) const override {
    const std::string ns = NamespaceOf(event);
    const Field about = Field::Of(event, "involvedObject", errors)["namespace"];
    // An event must be in the namespace of its object, or in "default" if the
    // object has no namespace. An event of the newer API, which has an
    // eventTime, may be in any namespace, or in "default" or "kube-system" if
    // the object has no namespace.
    const bool newer = !Get(event, "eventTime").is_null();
    const bool agree = about.exists()
                           ? newer || about.text() == ns
                           : ns == "default" || (newer && ns == "kube-system");
    if (!agree) about.Invalid(about.text(), "does not match event.namespace");
  }

  bool allow_create_on_update() const override { return true; }
};

class Leases : public Strategy {
 public:
  void Validate(const Json& object, FieldErrors& errors) const override {
    const Field spec = Field::Of(object, "spec", errors);
    const Field duration = spec["leaseDurationSeconds"];
    if (duration.exists() && duration.number() <= 0) {
      duration.Invalid("must be greater than 0");
    }
    spec["leaseTransitions"].NotNegative();
  }

  bool allow_unconditional_update() const override { return false; }
  bool allow_create_on_update() const override { return true; }
};

}  // namespace

const Strategy& EventStrategy() { return Only<Events>(); }
const Strategy& LeaseStrategy() { return Only<Leases>(); }
const Strategy& NamespaceStrategy() { return Only<Namespaces>(); }
const Strategy& NodeStrategy() { return Only<Nodes>(); }
const Strategy& PlainStrategy() { return Only<Strategy>(); }
const Strategy& PodDisruptionBudgetStrategy() {
  return Only<PodDisruptionBudgets>();
}
const Strategy& PriorityClassStrategy() { return Only<PriorityClasses>(); }

}  // namespace minisched::apiserver
