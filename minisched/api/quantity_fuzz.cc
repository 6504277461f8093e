// Fuzzes Quantity. The input is quantities with spaces between them.

#include <optional>

#include "minisched/api/parse_error.h"
#include "minisched/api/quantity.h"
#include "minisched/base/fuzzing.h"

namespace minisched {
namespace {

std::optional<Quantity> TryParse(const std::string& text) {
  try {
    return Quantity::Parse(text);
  } catch (const ParseError&) {
    return std::nullopt;
  }
}

void CheckText(const Quantity& quantity) {
  const std::string text = quantity.ToString();
  const auto again = TryParse(text);
  Require(again && *again == quantity, "the text has the same value", text);
  Require(again->ToString() == text, "the text is canonical", text);
}

// Checks that `count` is the quantity in a unit, rounded away from zero. `from`
// returns the quantity of a number of units.
void CheckRounding(const Quantity& quantity, Amount count,
                   Quantity (*from)(Amount, Quantity::Format)) {
  const auto make = [&](Amount n) { return from(n, quantity.format()); };
  const bool up = quantity.Sign() > 0;
  const bool enough = up ? make(count) >= quantity : make(count) <= quantity;
  Require(enough, "a number is rounded away from zero", quantity.ToString());
  if (quantity.IsZero()) return;
  const bool least =
      up ? make(count - 1) < quantity : make(count + 1) > quantity;
  Require(least, "a number is rounded by less than one", quantity.ToString());
}

void CheckNumbers(const Quantity& quantity) {
  CheckRounding(quantity, quantity.Value(), Quantity::FromValue);
  CheckRounding(quantity, quantity.MilliValue(), Quantity::FromMilli);
}

void CheckSum(const Quantity& a, const Quantity& b) {
  Quantity ab = a;
  ab += b;
  Quantity ba = b;
  ba += a;
  const std::string text = a.ToString() + " + " + b.ToString();
  Require(ab == ba, "a sum does not depend on the order", text);
  // No quantity is larger than the largest, or smaller than the smallest.
  const Quantity limit = Quantity::FromValue(Amount{a.Sign()} << 120);
  Require((ab <=> a) == (b <=> Quantity()) || (ab == a && a == limit),
          "a sum exceeds the first number if the second is positive", text);
  // In BinarySI, Parse() caps large numbers, so a sum may not be restored.
  if (ab.format() != Quantity::Format::kBinarySI) CheckText(ab);
}

}  // namespace
}  // namespace minisched

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  using namespace minisched;
  std::vector<Quantity> parsed;
  for (const std::string& text : SplitWords(InputText(data, size))) {
    const auto quantity = TryParse(text);
    if (!quantity) return 0;
    CheckText(*quantity);
    CheckNumbers(*quantity);
    if (!parsed.empty()) CheckSum(parsed.back(), *quantity);
    parsed.push_back(*quantity);
  }
  return 0;
}
