#include "lab/apiserver/kinds/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/case_conv.hpp>
#include <string>

namespace minisched::apiserver {
namespace {

// A version may have a group before it: "apps/v1".
bool IsApiVersion(const std::string& text) {
  return !text.ends_with('/') && std::ranges::count(text, '/') <= 1;
}

void ValidateOwnerReference(const Field& owner) {
  for (const char* key : {"apiVersion", "kind", "name", "uid"}) {
    if (owner[key].text().empty()) owner[key].Required("must not be empty");
  }
  const Field version = owner["apiVersion"];
  if (!IsApiVersion(version.text())) {
    version.Invalid("must be <group>/<version> or <version>");
  }
}

void ValidateOwnerReferences(const Field& owners) {
  std::string controller;  // the first owner that is a controller
  for (const Field& owner : owners.elements()) {
    ValidateOwnerReference(owner);
    if (!GetBool(owner.value(), "controller")) continue;
    const std::string name = owner["kind"].text() + "/" + owner["name"].text();
    if (controller.empty()) {
      controller = name;
    } else {
      owners.Invalid(fmt::format(
          "Only one reference can have Controller set to true. Found \"true\" "
          "in references for {} and {}",
          controller, name));
    }
  }
}

// Validates the labels, annotations and ownerReferences of a new or changed
// object.
void ValidateCommon(const Field& metadata) {
  ValidateLabels(metadata["labels"]);
  const Field annotations = metadata["annotations"];
  for (const auto& [key, value] : annotations.value().items()) {
    for (const std::string& message :
         CheckLabelKey(boost::algorithm::to_lower_copy(key))) {
      annotations.Invalid(key, message);
    }
  }
  ValidateOwnerReferences(metadata["ownerReferences"]);
}

}  // namespace

void ValidateLabels(const Field& labels) {
  for (const auto& [key, value] : labels.value().items()) {
    labels.Conform(CheckLabelKey, key);
    labels.Conform(CheckLabelValue, GetString(value));
  }
}

void ValidateRequirement(const Field& requirement, bool of_node,
                         bool check_values) {
  const Field op = requirement["operator"];
  const Field values = requirement["values"];
  const std::string name = op.text();
  if (name == "In" || name == "NotIn") {
    values.Require("must be specified when `operator` is 'In' or 'NotIn'");
  } else if (name == "Exists" || name == "DoesNotExist") {
    if (!values.value().empty()) {
      values.Forbidden(
          "may not be specified when `operator` is 'Exists' or "
          "'DoesNotExist'");
    }
  } else if (of_node && (name == "Gt" || name == "Lt")) {
    if (values.value().size() != 1) {
      values.Required(
          "must be specified single value when `operator` is 'Lt' or 'Gt'");
    }
  } else {
    op.Invalid(name, "not a valid selector operator");
  }
  requirement["key"].Conform(CheckLabelKey);
  if (!check_values) return;
  for (const Field& value : values.elements()) value.Conform(CheckLabelValue);
}

void ValidateLabelSelector(const Field& selector) {
  ValidateLabels(selector["matchLabels"]);
  for (const Field& requirement : selector["matchExpressions"].elements()) {
    ValidateRequirement(requirement);
  }
}

void ValidateMetadata(const Json& metadata, bool namespaced, Field::Check check,
                      FieldErrors& errors) {
  const Field field(metadata, "metadata", errors);
  const Field base = field["generateName"];
  if (base.exists()) {
    // The server appends a suffix to the base, so the base may end with a dash.
    std::string begin = base.text();
    if (begin.ends_with('-')) begin.back() = 'a';
    for (const std::string& message : check(begin)) base.Invalid(message);
  }
  if (field["name"].Require("name or generateName is required")) {
    field["name"].Conform(check);
  }
  if (namespaced) {
    field["namespace"].Conform(CheckDns1123Label);
  } else if (field["namespace"].exists()) {
    field["namespace"].Forbidden("not allowed on this type");
  }
  ValidateCommon(field);
}

void ValidateMetadataUpdate(const Json& metadata, const Json& old,
                            FieldErrors& errors) {
  const Field field(metadata, "metadata", errors);
  for (const char* key : {"name", "namespace", "uid", "creationTimestamp",
                          "deletionTimestamp", "deletionGracePeriodSeconds"}) {
    field[key].Unchanged(Get(old, key));
  }
  ValidateCommon(field);
}

}  // namespace minisched::apiserver
