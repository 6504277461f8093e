#include "minisched/apiserver/kinds/names.h"
#include "minisched/apiserver/kinds/strategies.h"
#include "minisched/apiserver/kinds/validation.h"

// Follows kubernetes pkg/apis/core/validation/events.go. Events come here in
// the form of the core group (views.h).

namespace minisched::apiserver {
namespace {

// What either recorder of client-go writes, of which little is asked.
class Events : public Strategy {
 public:
  void PrepareForCreate(Json& /*event*/,
                        const Store& /*store*/) const override {}

  void Validate(const Json& event, FieldErrors& errors) const override {
    const std::string ns = NamespaceOf(event);
    const Field about = Field::Of(event, "involvedObject", errors)["namespace"];
    // What has no namespace has its events in the default one; those that have
    // an eventTime, being of the newer kind, may be elsewhere too.
    const bool newer = !Get(event, "eventTime").is_null();
    const bool agree = about.exists()
                           ? newer || about.text() == ns
                           : ns == "default" || (newer && ns == "kube-system");
    if (!agree) about.Invalid(about.text(), "does not match event.namespace");
  }

  bool allow_create_on_update() const override { return true; }
  NameRule name_rule() const override { return NameRule::kPathSegment; }
};

// Those of events.k8s.io.
class StrictEvents : public Events {
 public:
  void Validate(const Json& event, FieldErrors& errors) const override {
    Events::Validate(event, errors);
    if (!Get(event, "metadata", "resourceVersion").is_null()) return;
    // A new one.
    if (Get(event, "eventTime").is_null()) return errors.Required("eventTime");
    const Field controller(Get(event, "reportingComponent"),
                           "reportingController", errors);
    controller.Require();
    controller.Conform(CheckLabelKey);
    for (const char* key : {"reportingInstance", "action", "reason"}) {
      Field::Of(event, key, errors).Require();
      CheckLength(event, key, 128, errors);
    }
    CheckLength(event, "message", 1024, errors);
    const std::string type = GetString(event, "type");
    if (type != "Normal" && type != "Warning") {
      errors.Invalid("type", "", "has invalid value: " + type);
    }
  }

  void ValidateUpdate(const Json& event, const Json& old,
                      std::string_view /*subresource*/,
                      FieldErrors& errors) const override {
    for (const char* key :
         {"involvedObject", "reason", "message", "type", "eventTime", "action",
          "related", "reportingComponent", "reportingInstance"}) {
      Field::Of(event, key, errors).Unchanged(Get(old, key));
    }
  }

  NameRule name_rule() const override { return NameRule::kSubdomain; }

 private:
  static void CheckLength(const Json& event, const char* key, std::size_t limit,
                          FieldErrors& errors) {
    if (GetString(event, key).size() <= limit) return;
    errors.Invalid(key, "",
                   "can have at most " + std::to_string(limit) + " characters");
  }
};

}  // namespace

const Strategy& EventStrategy() { return Only<Events>(); }
const Strategy& StrictEventStrategy() { return Only<StrictEvents>(); }

}  // namespace minisched::apiserver
