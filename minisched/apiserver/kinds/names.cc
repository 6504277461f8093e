#include "minisched/apiserver/kinds/names.h"

#include <algorithm>
#include <boost/algorithm/string/case_conv.hpp>

namespace minisched::apiserver {
namespace {

using Messages = std::vector<std::string>;

bool IsLower(char c) {
  return ('a' <= c && c <= 'z') || ('0' <= c && c <= '9');
}
bool IsAlphanumeric(char c) { return IsLower(c) || ('A' <= c && c <= 'Z'); }

// Begins and ends with one of `ends`, with those and `between` in between.
template <class Ends>
bool HasForm(std::string_view text, Ends ends, std::string_view between) {
  return !text.empty() && ends(text.front()) && ends(text.back()) &&
         std::all_of(text.begin(), text.end(), [&](char c) {
           return ends(c) || between.find(c) != between.npos;
         });
}

bool IsSubdomain(std::string_view text) {
  for (;;) {
    const auto dot = text.find('.');
    if (!HasForm(text.substr(0, dot), IsLower, "-")) return false;
    if (dot == text.npos) return true;
    text.remove_prefix(dot + 1);
  }
}

void CheckLength(std::string_view value, std::size_t max, Messages& messages,
                 const std::string& unit, const std::string& prefix = "") {
  if (value.size() <= max) return;
  messages.push_back(prefix + "must be no more than " + std::to_string(max) +
                     " " + unit);
}

Messages CheckPathSegment(std::string_view name) {
  if (name == "." || name == "..") {
    return {"may not be '" + std::string(name) + "'"};
  }
  Messages messages;
  for (const char c : {'/', '%'}) {
    if (name.find(c) == name.npos) continue;
    messages.push_back(std::string("may not contain '") + c + "'");
  }
  return messages;
}

// `prefix`: something will follow it, so that it may end with a dash.
void ValidateName(const Field& field, Strategy::NameRule rule, bool prefix) {
  std::string name = field.text();
  if (prefix && name.size() > 1 && name.back() == '-') name.back() = 'a';
  const auto check = rule == Strategy::NameRule::kSubdomain
                         ? CheckDns1123Subdomain
                     : rule == Strategy::NameRule::kLabel ? CheckDns1123Label
                                                          : CheckPathSegment;
  for (const std::string& message : check(name)) field.Invalid(message);
}

// The garbage collector goes by these.
void ValidateOwnerReferences(const Field& owners) {
  for (const Json& owner : owners.value()) {
    for (const std::string key : {"apiVersion", "kind", "name", "uid"}) {
      if (!GetString(owner, key).empty()) continue;
      owners[key].Invalid("", key == "apiVersion" ? "version must not be empty"
                                                  : "must not be empty");
    }
  }
}

// What an object says of itself, new or changed.
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

// What is going away isn't held back any further.
void ValidateNoNewFinalizers(const Field& finalizers, const Json& old) {
  std::string added;
  for (const Json& finalizer : finalizers.value()) {
    if (std::find(old.begin(), old.end(), finalizer) != old.end()) continue;
    added += (added.empty() ? "" : ", ") + finalizer.dump();
  }
  if (added.empty()) return;
  finalizers.Forbidden(
      "no new finalizers can be added if the object is being deleted, found "
      "new finalizers []string{" +
      added + "}");
}

}  // namespace

Messages CheckDns1123Label(std::string_view value) {
  Messages messages;
  CheckLength(value, 63, messages, "characters");
  if (HasForm(value, IsLower, "-")) return messages;
  messages.push_back(
      IsSubdomain(value)
          ? "must not contain dots"
          : "a lowercase RFC 1123 label must consist of lower case "
            "alphanumeric characters or '-', and must start and end with an "
            "alphanumeric character (e.g. 'my-name',  or '123-abc', regex used "
            "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')");
  return messages;
}

Messages CheckDns1123Subdomain(std::string_view value) {
  Messages messages;
  CheckLength(value, 253, messages, "characters");
  if (IsSubdomain(value)) return messages;
  messages.emplace_back(
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
      "characters, '-' or '.', and must start and end with an alphanumeric "
      "character (e.g. 'example.com', regex used for validation is "
      "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')");
  return messages;
}

Messages CheckLabelKey(std::string_view value) {
  static constexpr char kForm[] =
      "must consist of alphanumeric characters, '-', '_' or '.', and must "
      "start and end with an alphanumeric character (e.g. 'MyName',  or "
      "'my.name',  or '123-abc', regex used for validation is "
      "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
  Messages messages;
  if (std::count(value.begin(), value.end(), '/') > 1) {
    return {std::string("a valid label key ") + kForm +
            " with an optional DNS subdomain prefix and '/' (e.g. "
            "'example.com/MyName')"};
  }
  std::string_view name = value;
  if (const auto slash = value.find('/'); slash != value.npos) {
    name = value.substr(slash + 1);
    if (slash == 0) {
      messages.emplace_back("prefix part must be non-empty");
    } else {
      for (const auto& text : CheckDns1123Subdomain(value.substr(0, slash))) {
        messages.push_back("prefix part " + text);
      }
    }
  }
  if (name.empty()) messages.emplace_back("name part must be non-empty");
  CheckLength(name, 63, messages, "bytes", "name part ");
  if (!HasForm(name, IsAlphanumeric, "-_.")) {
    messages.push_back(std::string("name part ") + kForm);
  }
  return messages;
}

Messages CheckLabelValue(std::string_view value) {
  Messages messages;
  CheckLength(value, 63, messages, "bytes");
  if (value.empty() || HasForm(value, IsAlphanumeric, "-_.")) return messages;
  messages.emplace_back(
      "a valid label must be an empty string or consist of alphanumeric "
      "characters, '-', '_' or '.', and must start and end with an "
      "alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', "
      "regex used for validation is "
      "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')");
  return messages;
}

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

void ValidateMetadata(const Json& metadata, bool namespaced,
                      Strategy::NameRule rule, FieldErrors& errors) {
  const Field field(metadata, "metadata", errors);
  const Field base = field["generateName"];
  if (base.exists()) ValidateName(base, rule, true);
  if (field["name"].Require("name or generateName is required")) {
    ValidateName(field["name"], rule, false);
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
  if (!Get(old, "deletionTimestamp").is_null()) {
    ValidateNoNewFinalizers(field["finalizers"], Get(old, "finalizers"));
  }
  for (const char* key : {"name", "namespace", "uid", "creationTimestamp",
                          "deletionTimestamp", "deletionGracePeriodSeconds"}) {
    field[key].Unchanged(Get(old, key));
  }
  ValidateCommon(field);
}

}  // namespace minisched::apiserver
