// Fuzzes Quantity. The input is quantities with spaces between them.

#include <optional>
#include <stdexcept>

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
void CheckRounding(const Quantity& quantity, std::int64_t count,
                   Quantity (*from)(std::int64_t, Quantity::Format)) {
  const auto make = [&](std::int64_t n) { return from(n, quantity.format()); };
  const bool up = quantity.Sign() > 0;
  const bool enough = up ? make(count) >= quantity : make(count) <= quantity;
  Require(enough, "a number is rounded away from zero", quantity.ToString());
  if (quantity.IsZero()) return;
  const bool least =
      up ? make(count - 1) < quantity : make(count + 1) > quantity;
  Require(least, "a number is rounded by less than one", quantity.ToString());
}

void CheckNumbers(const Quantity& quantity) {
  try {
    CheckRounding(quantity, quantity.Value(), Quantity::FromValue);
    CheckRounding(quantity, quantity.MilliValue(), Quantity::FromMilli);
  } catch (const std::overflow_error&) {
    // The number of units does not fit in 64 bits.
  }
}

// Returns true if the quantity does not fit in 64 bits. A sum of such may be
// the greatest or least quantity.
bool IsHuge(const Quantity& quantity) {
  try {
    quantity.Value();
    return false;
  } catch (const std::overflow_error&) {
    return true;
  }
}

void CheckSum(const Quantity& a, const Quantity& b) {
  Quantity ab = a;
  ab += b;
  Quantity ba = b;
  ba += a;
  const std::string text = a.ToString() + " + " + b.ToString();
  Require(ab == ba, "a sum does not depend on the order", text);
  Require((ab <=> a) == (b <=> Quantity()) || (ab == a && IsHuge(a)),
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
