#include <limits>

#include "minisched/apiserver/names.h"
#include "minisched/apiserver/strategies.h"
#include "minisched/apiserver/validation.h"

// Follows kubernetes pkg/apis/core/validation/events.go.

namespace minisched::apiserver {
namespace {

class Events : public Strategy {
 public:
  // `controller_field` is what the API group calls who reports.
  explicit Events(const char* controller_field = "reportingComponent")
      : controller_field_(controller_field) {}

  void PrepareForCreate(Json& /*event*/,
                        const Store& /*store*/) const override {}

  void Validate(const Json& event, FieldErrors& errors) const override {
    const std::string ns = NamespaceOf(event);
    const std::string about = GetString(event, "involvedObject", "namespace");
    if (Get(event, "eventTime").is_null()) {
      const bool agree = about.empty() ? ns == "default" : about == ns;
      if (!agree) ComplainOfNamespace(about, errors);
      return;
    }
    // What has an eventTime is of the newer kind, and has to say more.
    if (about.empty() && ns != "default" && ns != "kube-system") {
      ComplainOfNamespace(about, errors);
    }
    const std::string controller = GetString(event, "reportingComponent");
    if (controller.empty()) errors.Required(controller_field_);
    AddInvalid(errors, controller_field_, controller,
               CheckLabelKey(controller));
    constexpr std::pair<const char*, std::size_t> kLimits[] = {
        {"reportingInstance", 128},
        {"action", 128},
        {"reason", 128},
        {"message", 1024}};
    for (const auto& [key, limit] : kLimits) {
      const std::string text = GetString(event, key);
      if (text.empty() && key != std::string("message")) errors.Required(key);
      if (text.size() <= limit) continue;
      errors.Invalid(
          key, "", "can have at most " + std::to_string(limit) + " characters");
    }
  }

  bool allow_create_on_update() const override { return true; }
  NameRule name_rule() const override { return NameRule::kPathSegment; }

 private:
  static void ComplainOfNamespace(const std::string& about,
                                  FieldErrors& errors) {
    errors.Invalid("involvedObject.namespace", about,
                   "does not match event.namespace");
  }

  std::string controller_field_;
};

class StrictEvents : public Events {
 public:
  StrictEvents() : Events("reportingController") {}

  void Validate(const Json& event, FieldErrors& errors) const override {
    Events::Validate(event, errors);
    if (!Get(event, "metadata", "resourceVersion").is_null()) return;
    // A new one.
    ValidateSeries(event, errors);
    if (Get(event, "eventTime").is_null()) errors.Required("eventTime");
    const std::string type = GetString(event, "type");
    if (type != "Normal" && type != "Warning") {
      errors.Invalid("type", "", "has invalid value: " + type);
    }
    for (const char* key :
         {"firstTimestamp", "lastTimestamp", "count", "source"}) {
      if (!Get(event, key).empty()) {
        errors.Invalid(key, "", "needs to be unset");
      }
    }
  }

  void ValidateUpdate(const Json& event, const Json& old,
                      std::string_view /*subresource*/,
                      FieldErrors& errors) const override {
    if (Get(event, "series") != Get(old, "series")) {
      ValidateSeries(event, errors);
    }
    for (const char* key :
         {"involvedObject", "reason", "message", "source", "firstTimestamp",
          "lastTimestamp", "count", "type", "eventTime", "action", "related"}) {
      CheckUnchanged({Get(event, key), key}, Get(old, key), errors);
    }
    CheckUnchanged({Get(event, "reportingComponent"), "reportingController"},
                   Get(old, "reportingComponent"), errors);
    CheckUnchanged({Get(event, "reportingInstance"), "reportingInstance"},
                   Get(old, "reportingInstance"), errors);
  }

  NameRule name_rule() const override { return NameRule::kSubdomain; }

 private:
  static void ValidateSeries(const Json& event, FieldErrors& errors) {
    const Json& series = Get(event, "series");
    if (series.is_null()) return;
    if (GetInt(series, "count") < 2) {
      errors.Invalid("series.count", "", "should be at least 2");
    }
    if (Get(series, "lastObservedTime").is_null()) {
      errors.Required("series.lastObservedTime");
    }
  }
};

}  // namespace

const Strategy& EventStrategy() {
  static const Events strategy;
  return strategy;
}

const Strategy& StrictEventStrategy() {
  static const StrictEvents strategy;
  return strategy;
}

}  // namespace minisched::apiserver
