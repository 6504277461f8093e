#include "lab/explain/amounts.h"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace minisched::explain {
namespace {

bool IsInBytes(const std::string& resource) {
  return resource == "memory" || resource == "ephemeral-storage" ||
         resource.starts_with("hugepages-");
}

// Returns amount / unit, rounded down, without trailing zeros.
std::string Divide(Amount amount, Amount unit, int digits) {
  Amount scale = 1;
  for (int i = 0; i < digits; ++i) scale *= 10;
  std::string text = fmt::format("{}.{:0{}}", amount / unit,
                                 amount % unit * scale / unit, digits);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace

std::string ShowAmount(const std::string& resource, Amount amount) {
  if (resource == "cpu") return Divide(amount, 1000, 3);
  if (!IsInBytes(resource)) return fmt::to_string(amount);
  constexpr std::array<std::pair<const char*, int>, 6> kUnits = {
      {{"Ei", 60}, {"Pi", 50}, {"Ti", 40}, {"Gi", 30}, {"Mi", 20}, {"Ki", 10}}};
  for (const auto& [suffix, bits] : kUnits) {
    const Amount unit = Amount{1} << bits;
    if (amount >= unit) return Divide(amount, unit, 2) + suffix;
  }
  return fmt::to_string(amount);
}

std::string ToQuantity(const std::string& resource, Amount amount) {
  if (resource == "cpu") return Quantity::FromMilli(amount).ToString();
  return Quantity::FromValue(amount, IsInBytes(resource)
                                         ? Quantity::Format::kBinarySI
                                         : Quantity::Format::kDecimalSI)
      .ToString();
}

}  // namespace minisched::explain
