#include "lab/explain/amounts.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "minisched/api/quantity.h"

namespace minisched::explain {
namespace {

bool IsInBytes(const std::string& resource) {
  return resource == "memory" || resource == "ephemeral-storage" ||
         resource.starts_with("hugepages-");
}

// Returns amount / unit, rounded down, without trailing zeros.
std::string Divide(std::int64_t amount, std::int64_t unit, int digits) {
  std::int64_t scale = 1;
  for (int i = 0; i < digits; ++i) scale *= 10;
  std::string text = fmt::format("{}.{:0{}}", amount / unit,
                                 amount % unit * scale / unit, digits);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace

std::string ShowAmount(const std::string& resource, std::int64_t amount) {
  if (resource == "cpu") return Divide(amount, 1000, 3);
  if (!IsInBytes(resource)) return std::to_string(amount);
  constexpr std::array<std::pair<const char*, int>, 5> kUnits = {
      {{"Pi", 50}, {"Ti", 40}, {"Gi", 30}, {"Mi", 20}, {"Ki", 10}}};
  for (const auto& [suffix, bits] : kUnits) {
    const std::int64_t unit = std::int64_t{1} << bits;
    if (amount >= unit) return Divide(amount, unit, 2) + suffix;
  }
  return std::to_string(amount);
}

std::string ToQuantity(const std::string& resource, std::int64_t amount) {
  if (resource == "cpu") return Quantity::FromMilli(amount).ToString();
  return Quantity::FromValue(amount, IsInBytes(resource)
                                         ? Quantity::Format::kBinarySI
                                         : Quantity::Format::kDecimalSI)
      .ToString();
}

}  // namespace minisched::explain
