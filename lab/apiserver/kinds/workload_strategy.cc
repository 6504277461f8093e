#include <cstdlib>

#include "lab/apiserver/kinds/defaults.h"
#include "lab/apiserver/kinds/names.h"
#include "lab/apiserver/kinds/pod_validation.h"
#include "lab/apiserver/kinds/strategies.h"
#include "lab/apiserver/selectors.h"

// The strategies of Deployments and ReplicaSets. Follows kubernetes
// pkg/apis/apps.

namespace minisched::apiserver {
namespace {

void ValidateTemplate(const Field& spec, FieldErrors& errors) {
  const Field labels = spec["template"]["metadata"]["labels"];
  if (!Selects(spec["selector"].value(), labels.value())) {
    labels.Invalid("`selector` does not match template `labels`");
  }
  ValidateLabels({labels.value(), "spec.template.labels", errors});
  const Field pod = spec["template"]["spec"];
  ValidatePodSpec(pod);
  pod["restartPolicy"].OneOf({"Always"});
}

class ReplicaSets : public Strategy {
 public:
  void SetDefaults(Json& object) const override {
    Json& spec = object["spec"];
    SetDefault(spec, "replicas", 1);
    if (spec.contains("template")) {
      SetPodSpecDefaults(spec["template"]["spec"]);
    }
  }

  void Validate(const Json& object, FieldErrors& errors) const override {
    const Field spec = Field::Of(object, "spec", errors);
    spec["replicas"].NotNegative();
    const Field selector = spec["selector"];
    if (!selector.exists()) {
      selector.Required();
    } else if (selector.value().empty()) {
      // Upstream's message names deployments for both kinds.
      selector.Invalid("empty selector is invalid for deployment");
    }
    ValidateLabelSelector(selector);
    ValidateTemplate(spec, errors);
  }

  void ValidateUpdate(const Json& object, const Json& old,
                      std::string_view subresource,
                      FieldErrors& errors) const override {
    if (!subresource.empty()) return;
    Field::Of(object, "spec", errors)["selector"].Unchanged(
        Get(old, "spec", "selector"));
  }

  bool has_generation() const override { return true; }
};

// Returns 25 for "25%", and 3 for the number 3.
std::int64_t NumberOf(const Field& field) {
  return field.value().is_string()
             ? std::strtoll(field.text().c_str(), nullptr, 10)
             : field.number();
}

// Validates the strategy of a Deployment, which is how it replaces the pods of
// an old template.
void ValidateStrategy(const Field& strategy) {
  const Field rolling = strategy["rollingUpdate"];
  const std::string type = strategy["type"].text();
  if (type == "Recreate") {
    if (rolling.exists()) {
      rolling.Forbidden(
          "may not be specified when strategy `type` is 'Recreate'");
    }
  } else if (type != "RollingUpdate") {
    strategy.OneOf({"Recreate", "RollingUpdate"});
  } else {
    const Field unavailable = rolling["maxUnavailable"];
    unavailable.IntOrPercent(/*at_most_all=*/true);
    rolling["maxSurge"].IntOrPercent(/*at_most_all=*/false);
    if (NumberOf(unavailable) == 0 && NumberOf(rolling["maxSurge"]) == 0) {
      unavailable.Invalid("may not be 0 when `maxSurge` is 0");
    }
  }
}

class Deployments : public ReplicaSets {
 public:
  void SetDefaults(Json& object) const override {
    ReplicaSets::SetDefaults(object);
    Json& spec = object["spec"];
    SetDefault(spec, "revisionHistoryLimit", 10);
    SetDefault(spec, "progressDeadlineSeconds", 600);
    SetDefault(spec["strategy"], "type", "RollingUpdate");
    if (spec["strategy"]["type"] != "RollingUpdate") return;
    Json& rolling = spec["strategy"]["rollingUpdate"];
    SetDefault(rolling, "maxUnavailable", "25%");
    SetDefault(rolling, "maxSurge", "25%");
  }

  // A change of the annotations also increases the generation, because upstream
  // copies annotations to ReplicaSets.
  void PrepareForUpdate(Json& object, const Json& old,
                        std::string_view subresource) const override {
    Strategy::PrepareForUpdate(object, old, subresource);
    if (!subresource.empty() || Get(object, "spec") != Get(old, "spec") ||
        Get(object, "metadata", "annotations") ==
            Get(old, "metadata", "annotations")) {
      return;
    }
    object["metadata"]["generation"] =
        GetInt(old, "metadata", "generation") + 1;
  }

  void Validate(const Json& object, FieldErrors& errors) const override {
    ReplicaSets::Validate(object, errors);
    ValidateStrategy(Field::Of(object, "spec", errors)["strategy"]);
  }
};

}  // namespace

const Strategy& DeploymentStrategy() { return Only<Deployments>(); }
const Strategy& ReplicaSetStrategy() { return Only<ReplicaSets>(); }

}  // namespace minisched::apiserver
