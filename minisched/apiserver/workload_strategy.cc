#include "minisched/apiserver/defaults.h"
#include "minisched/apiserver/names.h"
#include "minisched/apiserver/pod_validation.h"
#include "minisched/apiserver/selectors.h"
#include "minisched/apiserver/strategies.h"

namespace minisched::apiserver {
namespace {

// What is at "25%" or 3: the number.
std::int64_t NumberOf(const Field& field) {
  return field.value().is_string() ? std::atoll(field.text().c_str())
                                   : field.number();
}

// What those have in common that make pods of a template.
class Workloads : public Strategy {
 public:
  // `defaults` of spec, its template apart.
  Workloads(const char* kind, Defaults defaults)
      : kind_(kind), defaults_(std::move(defaults)) {}

  void SetDefaults(Json& object) const override {
    Json& spec = object["spec"];
    ApplyDefaults(spec, defaults_);
    if (spec.contains("template")) {
      SetPodSpecDefaults(spec["template"]["spec"]);
    }
  }

  void Validate(const Json& object, FieldErrors& errors) const override {
    const Field spec = Field::SpecOf(object);
    for (const char* count :
         {"replicas", "minReadySeconds", "revisionHistoryLimit"}) {
      CheckNotNegative(spec[count], errors);
    }
    ValidateSelector(spec, errors);
    ValidateTemplate(spec, errors);
    ValidateStrategy(spec, errors);
  }

  void ValidateUpdate(const Json& object, const Json& old,
                      std::string_view subresource,
                      FieldErrors& errors) const override {
    if (!subresource.empty()) return;
    CheckUnchanged(Field::SpecOf(object)["selector"],
                   Get(old, "spec", "selector"), errors);
  }

  bool has_generation() const override { return true; }

 protected:
  // What spec says about how pods are replaced.
  virtual void ValidateStrategy(const Field& /*spec*/,
                                FieldErrors& /*errors*/) const {}

  virtual void ValidateSelector(const Field& spec, FieldErrors& errors) const {
    const Field selector = spec["selector"];
    if (!selector.exists()) return errors.Required(selector.path());
    ValidateLabelSelector(selector.value(), selector.path(), errors);
    if (!selector.value().empty()) return;
    // Upstream calls both so.
    const std::string kind = kind_ == "ReplicaSet" ? "Deployment" : kind_;
    std::string lower = kind;
    for (char& c : lower) c = static_cast<char>(std::tolower(c));
    errors.Invalid(selector.path(), selector.value(),
                   "empty selector is invalid for " + lower);
  }

  virtual bool SelectsTemplate(const Json& spec) const {
    return Selects(Get(spec, "selector"),
                   Get(spec, "template", "metadata", "labels"));
  }

  virtual void ValidateTemplate(const Field& spec, FieldErrors& errors) const {
    const Field pod_template = spec["template"];
    const Field labels = pod_template["metadata"]["labels"];
    if (!SelectsTemplate(spec.value())) {
      errors.Invalid(labels.path(), labels.value(),
                     "`selector` does not match template `labels`");
    }
    ValidateLabels(labels.value(), pod_template.path() + ".labels", errors);
    const Field pod = pod_template["spec"];
    ValidatePodSpec(pod, true, errors);
    if (pod["restartPolicy"].text() != "Always") {
      errors.NotSupported(pod["restartPolicy"].path(),
                          pod["restartPolicy"].value(), {"Always"});
    }
    if (pod["activeDeadlineSeconds"].exists()) {
      const std::string kind = kind_ == "Deployment" ? "ReplicaSet" : kind_;
      errors.Forbidden(
          pod["activeDeadlineSeconds"].path(),
          "activeDeadlineSeconds in " + kind + " is not Supported");
    }
  }

 private:
  std::string kind_;
  Defaults defaults_;
};

class Deployments : public Workloads {
 public:
  Deployments()
      : Workloads("Deployment", {{"replicas", 1},
                                 {"revisionHistoryLimit", 10},
                                 {"progressDeadlineSeconds", 600}}) {}

  void SetDefaults(Json& object) const override {
    Workloads::SetDefaults(object);
    Json& strategy = object["spec"]["strategy"];
    ApplyDefaults(strategy, {{"type", "RollingUpdate"}});
    if (strategy["type"] != "RollingUpdate") return;
    ApplyDefaults(strategy, {{"rollingUpdate", Json::object()},
                             {"rollingUpdate.maxUnavailable", "25%"},
                             {"rollingUpdate.maxSurge", "25%"}});
  }

  // Annotations count, too, as ReplicaSets get them.
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

 protected:
  void ValidateStrategy(const Field& spec, FieldErrors& errors) const override {
    const Field strategy = spec["strategy"];
    const Field rolling = strategy["rollingUpdate"];
    if (strategy["type"].text() == "Recreate") {
      if (rolling.exists()) {
        errors.Forbidden(rolling.path(),
                         "may not be specified when strategy `type` is "
                         "'Recreate'");
      }
    } else if (strategy["type"].text() != "RollingUpdate") {
      errors.NotSupported(strategy.path(), strategy.value(),
                          {"Recreate", "RollingUpdate"});
    } else {
      const Field unavailable = rolling["maxUnavailable"];
      CheckIntOrPercent(unavailable, true, errors);
      CheckIntOrPercent(rolling["maxSurge"], false, errors);
      if (NumberOf(unavailable) == 0 && NumberOf(rolling["maxSurge"]) == 0) {
        errors.Invalid(unavailable.path(), unavailable.value(),
                       "may not be 0 when `maxSurge` is 0");
      }
    }
    const Field deadline = spec["progressDeadlineSeconds"];
    CheckNotNegative(deadline, errors);
    if (deadline.number() <= spec["minReadySeconds"].number()) {
      errors.Invalid(deadline.path(), deadline.value(),
                     "must be greater than minReadySeconds");
    }
  }
};

class StatefulSets : public Workloads {
 public:
  StatefulSets()
      : Workloads(
            "StatefulSet",
            {{"podManagementPolicy", "OrderedReady"},
             {"replicas", 1},
             {"revisionHistoryLimit", 10},
             {"persistentVolumeClaimRetentionPolicy", Json::object()},
             {"persistentVolumeClaimRetentionPolicy.whenDeleted|whenScaled",
              "Retain"},
             {"volumeClaimTemplates[].apiVersion", "v1"},
             {"volumeClaimTemplates[].kind", "PersistentVolumeClaim"},
             {"volumeClaimTemplates[].spec.volumeMode", "Filesystem"},
             {"volumeClaimTemplates[].status.phase", "Pending"}}) {}

  void SetDefaults(Json& object) const override {
    Workloads::SetDefaults(object);
    Json& strategy = object["spec"]["updateStrategy"];
    if (!strategy.contains("type")) {
      ApplyDefaults(strategy, {{"type", "RollingUpdate"},
                               {"rollingUpdate", Json::object()}});
    }
    ApplyDefaults(strategy, {{"rollingUpdate.partition", 0}});
  }

  void ValidateUpdate(const Json& object, const Json& old,
                      std::string_view subresource,
                      FieldErrors& errors) const override {
    if (!subresource.empty()) return;
    Json changed = Get(old, "spec");
    for (const auto* key :
         {"replicas", "ordinals", "template", "updateStrategy",
          "revisionHistoryLimit", "persistentVolumeClaimRetentionPolicy",
          "minReadySeconds"}) {
      changed.erase(key);
      const Json& now = Get(object, "spec", key);
      if (!now.is_null()) changed[key] = now;
    }
    if (changed == Get(object, "spec")) return;
    errors.Forbidden(
        "spec",
        "updates to statefulset spec for fields other than 'replicas', "
        "'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', "
        "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are "
        "forbidden");
  }

  NameRule name_rule() const override { return NameRule::kLabel; }

 protected:
  // The claims that each pod gets are volumes in it.
  void ValidateTemplate(const Field& spec, FieldErrors& errors) const override {
    Json complete = spec.value();
    for (const Json& claim : Get(spec.value(), "volumeClaimTemplates")) {
      const std::string name = NameOf(claim);
      Json& volumes = complete["template"]["spec"]["volumes"];
      if (!FindBy(volumes, "name", name).is_null()) continue;
      volumes.push_back(
          {{"name", name}, {"persistentVolumeClaim", {{"claimName", name}}}});
    }
    Workloads::ValidateTemplate({complete, spec.path()}, errors);
  }

  void ValidateStrategy(const Field& spec, FieldErrors& errors) const override {
    const Field policy = spec["podManagementPolicy"];
    if (policy.text() != "OrderedReady" && policy.text() != "Parallel") {
      errors.Invalid(policy.path(), policy.value(),
                     "must be 'OrderedReady' or 'Parallel'");
    }
    const Field strategy = spec["updateStrategy"];
    const std::string type = strategy["type"].text();
    if (type != "RollingUpdate" && type != "OnDelete") {
      errors.Invalid(strategy.path(), strategy.value(),
                     "must be 'RollingUpdate' or 'OnDelete'");
    }
    CheckNotNegative(strategy["rollingUpdate"]["partition"], errors);
  }
};

class DaemonSets : public Workloads {
 public:
  DaemonSets() : Workloads("DaemonSet", {{"revisionHistoryLimit", 10}}) {}

  void SetDefaults(Json& object) const override {
    Workloads::SetDefaults(object);
    Json& strategy = object["spec"]["updateStrategy"];
    ApplyDefaults(strategy, {{"type", "RollingUpdate"}});
    if (strategy["type"] != "RollingUpdate") return;
    ApplyDefaults(strategy, {{"rollingUpdate", Json::object()},
                             {"rollingUpdate.maxUnavailable", 1},
                             {"rollingUpdate.maxSurge", 0}});
  }

 protected:
  void ValidateSelector(const Field& spec, FieldErrors& errors) const override {
    // One that isn't there doesn't match the template, and that is said.
    if (spec["selector"].exists()) Workloads::ValidateSelector(spec, errors);
  }

  void ValidateStrategy(const Field& spec, FieldErrors& errors) const override {
    const Field strategy = spec["updateStrategy"];
    const Field rolling = strategy["rollingUpdate"];
    if (strategy["type"].text() == "OnDelete") return;
    if (strategy["type"].text() != "RollingUpdate") {
      errors.NotSupported(strategy.path(), strategy.value(),
                          {"RollingUpdate", "OnDelete"});
      return;
    }
    const Field unavailable = rolling["maxUnavailable"];
    const Field surge = rolling["maxSurge"];
    CheckIntOrPercent(unavailable, true, errors);
    CheckIntOrPercent(surge, true, errors);
    if (NumberOf(unavailable) != 0 && NumberOf(surge) != 0) {
      errors.Invalid(surge.path(), surge.value(),
                     "may not be set when maxUnavailable is non-zero");
    } else if (NumberOf(unavailable) == 0 && NumberOf(surge) == 0) {
      errors.Required(unavailable.path(), "cannot be 0 when maxSurge is 0");
    }
  }
};

// Older than the others: its selector is but a map of labels, and can change.
class ReplicationControllers : public Workloads {
 public:
  ReplicationControllers()
      : Workloads("ReplicationController", {{"replicas", 1}}) {}

  void SetDefaults(Json& object) const override {
    Workloads::SetDefaults(object);
    const Json labels = Get(object, "spec", "template", "metadata", "labels");
    if (labels.is_null()) return;
    ApplyDefaults(object,
                  {{"spec.selector", labels}, {"metadata.labels", labels}});
  }

  void ValidateUpdate(const Json& /*object*/, const Json& /*old*/,
                      std::string_view /*subresource*/,
                      FieldErrors& /*errors*/) const override {}

 protected:
  void ValidateSelector(const Field& spec, FieldErrors& errors) const override {
    Require(spec["selector"], errors);
  }

  bool SelectsTemplate(const Json& spec) const override {
    return Selects({{"matchLabels", Get(spec, "selector")}},
                   Get(spec, "template", "metadata", "labels"));
  }

  void ValidateTemplate(const Field& spec, FieldErrors& errors) const override {
    if (!Require(spec["template"], errors)) return;
    Workloads::ValidateTemplate(spec, errors);
  }
};

}  // namespace

const Strategy& DaemonSetStrategy() {
  static const DaemonSets strategy;
  return strategy;
}

const Strategy& DeploymentStrategy() {
  static const Deployments strategy;
  return strategy;
}

const Strategy& ReplicaSetStrategy() {
  static const Workloads strategy("ReplicaSet", {{"replicas", 1}});
  return strategy;
}

const Strategy& ReplicationControllerStrategy() {
  static const ReplicationControllers strategy;
  return strategy;
}

const Strategy& StatefulSetStrategy() {
  static const StatefulSets strategy;
  return strategy;
}

}  // namespace minisched::apiserver
