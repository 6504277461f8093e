#include "minisched/apiserver/validation.h"

#include <algorithm>

#include "minisched/api/quantity.h"
#include "minisched/apiserver/names.h"

namespace minisched::apiserver {

std::vector<Field> Field::elements() const {
  std::vector<Field> fields;
  for (const Json& element : *value_) {
    fields.emplace_back(element,
                        path_ + "[" + std::to_string(fields.size()) + "]");
  }
  return fields;
}

std::vector<std::pair<std::string, Field>> Field::entries() const {
  std::vector<std::pair<std::string, Field>> fields;
  for (const auto& [key, value] : value_->items()) {
    std::string path = path_;
    path.append("[").append(key).append("]");
    fields.emplace_back(key, Field(value, std::move(path)));
  }
  return fields;
}

bool Require(const Field& field, FieldErrors& errors, std::string_view detail) {
  const bool blank = field.value().is_string() && field.text().empty();
  if (!field.value().empty() && !blank) return true;
  errors.Required(field.path(), detail);
  return false;
}

void RequireOneOf(const Field& field, const std::vector<std::string>& supported,
                  FieldErrors& errors) {
  if (Require(field, errors)) CheckOneOf(field, supported, errors);
}

void CheckOneOf(const Field& field, const std::vector<std::string>& supported,
                FieldErrors& errors) {
  if (!field.exists() || std::find(supported.begin(), supported.end(),
                                   field.text()) != supported.end()) {
    return;
  }
  errors.NotSupported(field.path(), field.value(), supported);
}

void CheckNotNegative(const Field& field, FieldErrors& errors) {
  if (field.number() >= 0) return;
  errors.Invalid(field.path(), field.value(),
                 "must be greater than or equal to 0");
}

void CheckPositive(const Field& field, FieldErrors& errors) {
  if (field.number() > 0) return;
  errors.Invalid(field.path(), field.number(), "must be greater than zero");
}

void CheckRange(const Field& field, std::int64_t low, std::int64_t high,
                FieldErrors& errors) {
  if (!field.exists() || (low <= field.number() && field.number() <= high)) {
    return;
  }
  errors.Invalid(field.path(), field.value(),
                 "must be between " + std::to_string(low) + " and " +
                     std::to_string(high) + ", inclusive");
}

void CheckUnchanged(const Field& field, const Json& old, FieldErrors& errors) {
  if (field.value() == old) return;
  errors.Invalid(field.path(), field.value(), "field is immutable");
}

void CheckIntOrPercent(const Field& field, bool at_most_all,
                       FieldErrors& errors) {
  const std::string text = field.text();
  if (!field.value().is_string()) return CheckNotNegative(field, errors);
  const std::size_t digits = text.find_first_not_of("0123456789");
  if (digits == 0 || text.substr(std::min(digits, text.size())) != "%") {
    errors.Invalid(field.path(), text,
                   "a valid percent string must be a numeric string followed "
                   "by an ending '%' (e.g. '1%',  or '93%', regex used for "
                   "validation is '[0-9]+%')");
  } else if (at_most_all && (digits > 3 || std::stoi(text) > 100)) {
    errors.Invalid(field.path(), text, "must not be greater than 100%");
  }
}

bool IsExtendedResource(const std::string& resource) {
  return resource.find('/') != resource.npos &&
         resource.find("kubernetes.io/") == resource.npos &&
         !resource.starts_with("requests.") &&
         CheckLabelKey("requests." + resource).empty();
}

void CheckQuantity(const std::string& resource, const Field& field,
                   FieldErrors& errors) {
  const Quantity quantity = Quantity::Parse(field.text());
  if (quantity.Sign() < 0) {
    errors.Invalid(field.path(), field.value(),
                   "must be greater than or equal to 0");
  }
  // A fraction is written as a number of small units.
  const bool whole = field.text().find_first_of("mun") == std::string::npos &&
                     field.text().find("e-") == std::string::npos;
  if (!whole && (resource == "pods" || IsExtendedResource(resource))) {
    errors.Invalid(field.path(), field.value(), "must be an integer");
  }
}

}  // namespace minisched::apiserver
