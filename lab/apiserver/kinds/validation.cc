#include "lab/apiserver/kinds/validation.h"

#include <fmt/format.h>

#include <algorithm>

#include "lab/apiserver/kinds/names.h"
#include "lab/apiserver/limits.h"
#include "minisched/api/quantity.h"

namespace minisched::apiserver {

std::vector<Field> Field::elements() const {
  std::vector<Field> fields;
  for (const Json& element : *value_) {
    fields.emplace_back(element, fmt::format("{}[{}]", path_, fields.size()),
                        *errors_);
  }
  return fields;
}

std::vector<std::pair<std::string, Field>> Field::entries() const {
  std::vector<std::pair<std::string, Field>> fields;
  for (const auto& [key, value] : value_->items()) {
    fields.emplace_back(
        key, Field(value, fmt::format("{}[{}]", path_, key), *errors_));
  }
  return fields;
}

bool Field::Require(std::string_view detail) const {
  const bool blank = value_->is_string() && text().empty();
  if (!value_->empty() && !blank) return true;
  Required(detail);
  return false;
}

void Field::OneOf(const std::vector<std::string>& supported) const {
  if (exists() && std::find(supported.begin(), supported.end(), text()) ==
                      supported.end()) {
    errors_->NotSupported(path_, *value_, supported);
  }
}

void Field::NotNegative() const {
  if (number() < 0) Invalid("must be greater than or equal to 0");
}

void Field::Positive() const {
  if (number() <= 0) Invalid(number(), "must be greater than zero");
}

void Field::InRange(std::int64_t low, std::int64_t high) const {
  if (!exists() || (low <= number() && number() <= high)) return;
  Invalid(fmt::format("must be between {} and {}, inclusive", low, high));
}

void Field::Unchanged(const Json& old) const {
  if (*value_ != old) Invalid("field is immutable");
}

void Field::IntOrPercent(bool at_most_all) const {
  if (!value_->is_string()) return NotNegative();
  const std::string percent = text();
  const std::size_t digits = percent.find_first_not_of("0123456789");
  if (digits == 0 || digits + 1 != percent.size() || !percent.ends_with('%')) {
    Invalid(
        "a valid percent string must be a numeric string followed by an ending "
        "'%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')");
  } else if (at_most_all && (digits > 3 || std::stoi(percent) > 100)) {
    Invalid("must not be greater than 100%");
  }
}

void Field::QuantityOf(const std::string& resource) const {
  if (Quantity::Parse(text()).Sign() < 0) {
    Invalid("must be greater than or equal to 0");
  }
  // A canonical quantity that is not whole has one of the units m, u and n, or
  // a negative exponent.
  const bool whole = text().find_first_of("mun") == std::string::npos &&
                     text().find("e-") == std::string::npos;
  if (!whole && (resource == "pods" || IsExtendedResource(resource))) {
    Invalid("must be an integer");
  }
}

void Field::Conform(Check check, const std::string& text) const {
  for (const std::string& message : check(text)) Invalid(text, message);
}

std::string Difference(const Json& old, const Json& changed) {
  // The JSON library computes the difference in quadratic time.
  constexpr std::size_t kMaxCompared = 32'000;
  const bool is_long =
      Extent::Of(old).bytes + Extent::Of(changed).bytes > kMaxCompared;
  return is_long ? "" : Json::diff(old, changed).dump();
}

bool IsExtendedResource(const std::string& resource) {
  return resource.find('/') != resource.npos &&
         resource.find("kubernetes.io/") == resource.npos &&
         !resource.starts_with("requests.") &&
         CheckLabelKey("requests." + resource).empty();
}

}  // namespace minisched::apiserver
