#include "minisched/apiserver/kinds/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/case_conv.hpp>
#include <regex>

namespace minisched::apiserver {
namespace {

using Messages = std::vector<std::string>;

// A form that names can have.
struct Form {
  std::size_t limit;
  const char* unit;  // of the limit
  const char* rule;
  const char* examples;
  const char* pattern;  // which upstream shows to who breaks the rule
  std::regex regex = std::regex(pattern);

  bool Fits(std::string_view text) const {
    return text.size() <= limit &&
           std::regex_match(text.begin(), text.end(), regex);
  }
  // What is said of the part of a name that hasn't the form.
  std::string Explain(const char* part) const {
    return fmt::format("{}{} (e.g. {}, regex used for validation is '{}')",
                       part, rule, examples, pattern);
  }
  Messages Check(std::string_view text, const char* part = "") const {
    if (text.size() > limit) {
      return {fmt::format("{}must be no more than {} {}", part, limit, unit)};
    }
    return Fits(text) ? Messages() : Messages{Explain(part)};
  }
};

struct Forms {
  Form label{63, "characters",
             "a lowercase RFC 1123 label must consist of lower case "
             "alphanumeric characters or '-', and must start and end with an "
             "alphanumeric character",
             "'my-name',  or '123-abc'", "[a-z0-9]([-a-z0-9]*[a-z0-9])?"};
  Form subdomain{
      253, "characters",
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
      "characters, '-' or '.', and must start and end with an alphanumeric "
      "character",
      "'example.com'",
      R"([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)"};
  Form key{63, "bytes",
           "must consist of alphanumeric characters, '-', '_' or '.', and must "
           "start and end with an alphanumeric character",
           "'MyName',  or 'my.name',  or '123-abc'",
           "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"};
  Form value{63, "bytes",
             "a valid label must be an empty string or consist of alphanumeric "
             "characters, '-', '_' or '.', and must start and end with an "
             "alphanumeric character",
             "'MyValue',  or 'my_value',  or '12345'",
             "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?"};
};

const Forms& AllForms() {
  static const auto& forms = *new Forms;
  return forms;
}

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

}  // namespace

Messages CheckDns1123Label(std::string_view value) {
  if (value.find('.') != value.npos && AllForms().subdomain.Fits(value)) {
    return {"must not contain dots"};
  }
  return AllForms().label.Check(value);
}

Messages CheckDns1123Subdomain(std::string_view value) {
  return AllForms().subdomain.Check(value);
}

Messages CheckLabelKey(std::string_view value) {
  const Form& form = AllForms().key;
  if (std::count(value.begin(), value.end(), '/') > 1) {
    return {form.Explain("a valid label key ") +
            " with an optional DNS subdomain prefix and '/' (e.g. "
            "'example.com/MyName')"};
  }
  const auto slash = value.find('/');
  const auto name = slash == value.npos ? value : value.substr(slash + 1);
  Messages messages;
  if (slash == 0) {
    messages = {"prefix part must be non-empty"};
  } else if (slash != value.npos) {
    messages =
        AllForms().subdomain.Check(value.substr(0, slash), "prefix part ");
  }
  if (name.empty()) messages.emplace_back("name part must be non-empty");
  for (const std::string& message : form.Check(name, "name part ")) {
    messages.push_back(message);
  }
  return messages;
}

Messages CheckLabelValue(std::string_view value) {
  return AllForms().value.Check(value);
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

void ValidateMetadata(const Json& metadata, bool namespaced, Field::Check check,
                      FieldErrors& errors) {
  const Field field(metadata, "metadata", errors);
  const Field base = field["generateName"];
  if (base.exists()) {
    // Something follows it, so that it may end with a dash.
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
