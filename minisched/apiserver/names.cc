#include "minisched/apiserver/names.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace minisched::apiserver {
namespace {

using Messages = std::vector<std::string>;

constexpr std::size_t kMaxAnnotationBytes = 256 << 10;

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

Messages CheckPathSegment(std::string_view name, bool prefix) {
  Messages messages;
  if (!prefix && (name == "." || name == "..")) {
    return {"may not be '" + std::string(name) + "'"};
  }
  for (const char c : {'/', '%'}) {
    if (name.find(c) == name.npos) continue;
    messages.push_back(std::string("may not contain '") + c + "'");
  }
  return messages;
}

Messages CheckName(std::string name, Strategy::NameRule rule, bool prefix) {
  // Something will follow a prefix, so that it may end with a dash.
  if (prefix && name.size() > 1 && name.back() == '-') name.back() = 'a';
  switch (rule) {
    case Strategy::NameRule::kSubdomain:
      return CheckDns1123Subdomain(name);
    case Strategy::NameRule::kLabel:
      return CheckDns1123Label(name);
    case Strategy::NameRule::kLabel1035:
      return CheckDns1035Label(name);
    case Strategy::NameRule::kPathSegment:
      break;
  }
  return CheckPathSegment(name, prefix);
}

void ValidateAnnotations(const Json& annotations, FieldErrors& errors) {
  const std::string field = "metadata.annotations";
  std::size_t size = 0;
  for (const auto& [key, value] : annotations.items()) {
    std::string lower = key;
    for (char& c : lower) c = static_cast<char>(std::tolower(c));
    AddInvalid(errors, field, key, CheckLabelKey(lower));
    size += key.size() + value.get_ref<const std::string&>().size();
  }
  if (size > kMaxAnnotationBytes) errors.TooLong(field, kMaxAnnotationBytes);
}

void ValidateOwnerReferences(const Json& owners, FieldErrors& errors) {
  const std::string field = "metadata.ownerReferences";
  std::string controller;
  for (const Json& owner : owners) {
    const auto require = [&](const std::string& key, std::string_view detail) {
      if (!GetString(owner, key).empty()) return;
      errors.Invalid("metadata.ownerReferences." + key, "", detail);
    };
    require("apiVersion", "version must not be empty");
    for (const char* key : {"kind", "name", "uid"}) {
      require(key, "must not be empty");
    }
    if (Get(owner, "kind") == "Event" && Get(owner, "apiVersion") == "v1") {
      errors.Invalid(field, owner,
                     "/v1, Kind=Event is disallowed from being an owner");
    }
    if (!GetBool(owner, "controller")) continue;
    std::string name = GetString(owner, "kind");
    name.append("/").append(GetString(owner, "name"));
    if (controller.empty()) {
      controller = std::move(name);
      continue;
    }
    errors.Invalid(field, owners,
                   "Only one reference can have Controller set to true. Found "
                   "\"true\" in references for " +
                       controller + " and " + name);
  }
}

void ValidateFinalizers(const Json& finalizers, FieldErrors& errors) {
  const std::string field = "metadata.finalizers";
  int cascading = 0;
  for (std::size_t i = 0; i < finalizers.size(); ++i) {
    const auto& name = finalizers[i].get_ref<const std::string&>();
    ValidateFinalizer(name, i, field, errors);
    cascading += name == "orphan" || name == "foregroundDeletion";
  }
  if (cascading > 1) {
    errors.Invalid(
        field, finalizers,
        "finalizer orphan and foregroundDeletion cannot be both set");
  }
}

// What names, labels and the like have in common, new or changed.
void ValidateCommon(const Json& metadata, FieldErrors& errors) {
  ValidateLabels(Get(metadata, "labels"), "metadata.labels", errors);
  ValidateAnnotations(Get(metadata, "annotations"), errors);
  ValidateOwnerReferences(Get(metadata, "ownerReferences"), errors);
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

Messages CheckDns1035Label(std::string_view value) {
  Messages messages;
  CheckLength(value, 63, messages, "characters");
  if (HasForm(value, IsLower, "-") && !('0' <= value[0] && value[0] <= '9')) {
    return messages;
  }
  messages.emplace_back(
      "a DNS-1035 label must consist of lower case alphanumeric characters or "
      "'-', start with an alphabetic character, and end with an alphanumeric "
      "character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
      "'[a-z]([-a-z0-9]*[a-z0-9])?')");
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

void ValidateFinalizer(const std::string& name, std::size_t index,
                       const std::string& field, FieldErrors& errors) {
  AddInvalid(errors, field, name, CheckLabelKey(name));
  for (const char* standard : {"kubernetes", "orphan", "foregroundDeletion"}) {
    if (name == standard) return;
  }
  if (name.find('/') != name.npos) return;
  errors.Invalid(
      field + "[" + std::to_string(index) + "]", name,
      "name is neither a standard finalizer name nor is it fully qualified");
}

void AddInvalid(FieldErrors& errors, const std::string& field,
                const Json& value, const Messages& messages) {
  for (const std::string& message : messages) {
    errors.Invalid(field, value, message);
  }
}

void ValidateLabels(const Json& labels, const std::string& field,
                    FieldErrors& errors) {
  for (const auto& [key, value] : labels.items()) {
    AddInvalid(errors, field, key, CheckLabelKey(key));
    AddInvalid(errors, field, value,
               CheckLabelValue(value.get_ref<const std::string&>()));
  }
}

void ValidateLabelSelector(const Json& selector, const std::string& field,
                           FieldErrors& errors) {
  ValidateLabels(Get(selector, "matchLabels"), field + ".matchLabels", errors);
  const Json& expressions = Get(selector, "matchExpressions");
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    const Json& expression = expressions[i];
    const std::string path =
        field + ".matchExpressions[" + std::to_string(i) + "]";
    const std::string op = GetString(expression, "operator");
    const Json& values = Get(expression, "values");
    if (op == "In" || op == "NotIn") {
      if (values.empty()) {
        errors.Required(path + ".values",
                        "must be specified when `operator` is 'In' or 'NotIn'");
      }
    } else if (op == "Exists" || op == "DoesNotExist") {
      if (!values.empty()) {
        errors.Forbidden(path + ".values",
                         "may not be specified when `operator` is 'Exists' or "
                         "'DoesNotExist'");
      }
    } else {
      errors.Invalid(path + ".operator", op, "not a valid selector operator");
    }
    AddInvalid(errors, path + ".key", Get(expression, "key"),
               CheckLabelKey(GetString(expression, "key")));
    for (std::size_t k = 0; k < values.size(); ++k) {
      AddInvalid(errors, path + ".values[" + std::to_string(k) + "]", values[k],
                 CheckLabelValue(values[k].get_ref<const std::string&>()));
    }
  }
}

void ValidateMetadata(const Json& metadata, bool namespaced,
                      Strategy::NameRule rule, FieldErrors& errors) {
  if (const std::string base = GetString(metadata, "generateName");
      !base.empty()) {
    AddInvalid(errors, "metadata.generateName", base,
               CheckName(base, rule, true));
  }
  if (const std::string name = GetString(metadata, "name"); !name.empty()) {
    AddInvalid(errors, "metadata.name", name, CheckName(name, rule, false));
  } else {
    errors.Required("metadata.name", "name or generateName is required");
  }
  const std::string ns = GetString(metadata, "namespace");
  if (namespaced) {
    AddInvalid(errors, "metadata.namespace", ns, CheckDns1123Label(ns));
  } else if (!ns.empty()) {
    errors.Forbidden("metadata.namespace", "not allowed on this type");
  }
  ValidateCommon(metadata, errors);
  ValidateFinalizers(Get(metadata, "finalizers"), errors);
}

void ValidateMetadataUpdate(const Json& metadata, const Json& old,
                            FieldErrors& errors) {
  const Json& finalizers = Get(metadata, "finalizers");
  ValidateFinalizers(finalizers, errors);
  if (!Get(old, "deletionTimestamp").is_null()) {
    std::set<std::string> added;
    for (const Json& finalizer : finalizers) {
      const Json& before = Get(old, "finalizers");
      if (std::find(before.begin(), before.end(), finalizer) == before.end()) {
        added.insert(finalizer.get<std::string>());
      }
    }
    std::string list;
    for (const std::string& name : added) {
      list += (list.empty() ? "\"" : ", \"") + name + "\"";
    }
    if (!list.empty()) {
      errors.Forbidden("metadata.finalizers",
                       "no new finalizers can be added if the object is being "
                       "deleted, found new finalizers []string{" +
                           list + "}");
    }
  }
  for (const char* key : {"name", "namespace", "uid", "creationTimestamp",
                          "deletionTimestamp", "deletionGracePeriodSeconds"}) {
    if (Get(metadata, key) != Get(old, key)) {
      errors.Invalid("metadata." + std::string(key), Get(metadata, key),
                     "field is immutable");
    }
  }
  ValidateCommon(metadata, errors);
}

}  // namespace minisched::apiserver
