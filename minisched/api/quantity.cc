#include "minisched/api/quantity.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include "minisched/api/parse_error.h"

namespace minisched {
namespace {

__extension__ typedef unsigned __int128 Magnitude;  // in nanos

using Format = Quantity::Format;

constexpr int kNanoExponent = -9;
constexpr int64_t kNanosPerUnit = 1'000'000'000;
constexpr int64_t kNanosPerMilli = 1'000'000;
constexpr Magnitude kMaxMagnitude = ~Magnitude{0} >> 1;  // of a Nanos
constexpr auto kLargest = static_cast<Amount>(kMaxMagnitude);
constexpr Magnitude kMaxBinary =
    Magnitude{std::numeric_limits<int64_t>::max()} * kNanosPerUnit;

constexpr std::string_view kDigits = "0123456789";

// The exponent's base is 2 in BinarySI, else 10.
struct Suffix {
  std::string_view text;
  Format format;
  int exponent;
};

constexpr Suffix kSuffixes[] = {
    {"n", Format::kDecimalSI, -9}, {"u", Format::kDecimalSI, -6},
    {"m", Format::kDecimalSI, -3}, {"", Format::kDecimalSI, 0},
    {"k", Format::kDecimalSI, 3},  {"M", Format::kDecimalSI, 6},
    {"G", Format::kDecimalSI, 9},  {"T", Format::kDecimalSI, 12},
    {"P", Format::kDecimalSI, 15}, {"E", Format::kDecimalSI, 18},
    {"Ki", Format::kBinarySI, 10}, {"Mi", Format::kBinarySI, 20},
    {"Gi", Format::kBinarySI, 30}, {"Ti", Format::kBinarySI, 40},
    {"Pi", Format::kBinarySI, 50}, {"Ei", Format::kBinarySI, 60},
};
constexpr int kMaxDecimalExponent = 18;
constexpr int kMaxBinaryExponent = 60;

[[noreturn]] void Fail(std::string_view text, std::string_view what) {
  throw ParseError("cannot parse quantity " + Quoted(text) + ": " +
                   std::string(what));
}

// Removes and returns the leading characters of `rest` that are in `chars`.
std::string_view Take(std::string_view chars, std::string_view* rest) {
  const auto taken = rest->substr(0, rest->find_first_not_of(chars));
  rest->remove_prefix(taken.size());
  return taken;
}

// Removes a leading sign from `rest`. Returns true if it was a minus.
bool TakeSign(std::string_view* rest) {
  const bool negative = rest->starts_with('-');
  if (negative || rest->starts_with('+')) rest->remove_prefix(1);
  return negative;
}

// The parts of a quantity's text. The suffix may be invalid.
struct Parts {
  bool negative;
  std::string_view integer;
  std::string_view fraction;
  std::string_view suffix;
};

Parts Split(std::string_view text) {
  std::string_view rest = text;
  Parts parts;
  parts.negative = TakeSign(&rest);
  parts.integer = Take(kDigits, &rest);
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    parts.fraction = Take(kDigits, &rest);
  }
  parts.suffix = rest;
  Take("eEinumkKMGTP", &rest);
  TakeSign(&rest);
  Take(kDigits, &rest);
  if (text.empty() || !rest.empty()) {
    Fail(text,
         "quantities must match the regular expression "
         "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
  }
  return parts;
}

std::optional<Suffix> FindSuffix(std::string_view text) {
  for (const Suffix& suffix : kSuffixes) {
    if (suffix.text == text) return suffix;
  }
  if (!text.starts_with('e') && !text.starts_with('E')) return std::nullopt;
  std::string_view number = text.substr(1);
  if (number.starts_with('+')) number.remove_prefix(1);
  int exponent = 0;
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), exponent);
  if (error != std::errc() || end != number.data() + number.size()) {
    return std::nullopt;
  }
  return Suffix{text, Format::kDecimalExponent, exponent};
}

// Multiplies an integer, given by its decimal digits, by 1024. Working on the
// digits keeps fractions of any length exact.
void MultiplyBy1024(std::string* digits) {
  int carry = 0;
  for (auto digit = digits->rbegin(); digit != digits->rend(); ++digit) {
    const int product = (*digit - '0') * 1024 + carry;
    *digit = static_cast<char>('0' + product % 10);
    carry = product / 10;
  }
  digits->insert(0, std::to_string(carry));
}

// Returns the number made of the first `whole` digits, padded with zeros if
// there are fewer. Rounds up if any further digit is not zero. Returns nullopt
// if the number is too large.
std::optional<Magnitude> RoundUp(std::string_view digits, int64_t whole) {
  const auto size = static_cast<int64_t>(digits.size());
  Magnitude result = 0;
  for (int64_t i = 0; i < whole; ++i) {
    if (i >= size && result == 0) break;
    const unsigned digit = i < size ? digits[i] - '0' : 0;
    if (result > (kMaxMagnitude - digit) / 10) return std::nullopt;
    result = result * 10 + digit;
  }
  const int64_t beyond = std::clamp<int64_t>(whole, 0, size);
  if (digits.find_first_not_of('0', beyond) == digits.npos) return result;
  if (result == kMaxMagnitude) return std::nullopt;
  return result + 1;
}

std::string SuffixFor(Format format, int exponent) {
  if (exponent == 0) return "";
  if (format == Format::kDecimalExponent) {
    return "e" + std::to_string(exponent);
  }
  const auto suffix = std::find_if(
      std::begin(kSuffixes), std::end(kSuffixes), [=](const Suffix& known) {
        return known.format == format && known.exponent == exponent;
      });
  return std::string(suffix->text);
}

std::string DecimalDigits(Magnitude number) {
  std::string digits;
  for (; number != 0; number /= 10) {
    digits += static_cast<char>('0' + static_cast<int>(number % 10));
  }
  std::reverse(digits.begin(), digits.end());
  return digits;
}

}  // namespace

Quantity Quantity::Parse(std::string_view text) {
  const Parts parts = Split(text);
  const auto suffix = FindSuffix(parts.suffix);
  if (!suffix) Fail(text, "unable to parse quantity's suffix");
  const bool binary = suffix->format == Format::kBinarySI;

  std::string digits(parts.integer);
  digits += parts.fraction;
  int64_t decimal_exponent = suffix->exponent;
  if (binary) {
    for (int e = 0; e < suffix->exponent; e += 10) MultiplyBy1024(&digits);
    decimal_exponent = 0;
  }
  const auto point =
      static_cast<int64_t>(digits.size() - parts.fraction.size());
  auto magnitude = RoundUp(digits, point + decimal_exponent - kNanoExponent);

  Format format = suffix->format;
  if (binary) {
    magnitude = std::min(magnitude.value_or(kMaxBinary), kMaxBinary);
    if (*magnitude > 0 && *magnitude < kNanosPerUnit) {
      format = Format::kDecimalSI;
    }
  }
  if (!magnitude) Fail(text, "the number is too large");
  const auto nanos = static_cast<Nanos>(*magnitude);
  return Quantity(parts.negative ? -nanos : nanos, format);
}

Quantity Quantity::FromValue(Amount units, Format format) {
  return Quantity(Multiply(units, kNanosPerUnit), format);
}

Quantity Quantity::FromMilli(Amount millis, Format format) {
  return Quantity(Multiply(millis, kNanosPerMilli), format);
}

std::string Quantity::ToString() const {
  if (IsZero()) return "0";
  const bool negative = nanos_ < 0;
  auto mantissa = static_cast<Magnitude>(nanos_);
  if (negative) mantissa = -mantissa;

  Format format = format_;
  if (format == Format::kBinarySI &&
      (mantissa < Magnitude{1024} * kNanosPerUnit ||
       mantissa % kNanosPerUnit != 0)) {
    format = Format::kDecimalSI;
  }
  const bool binary = format == Format::kBinarySI;
  const bool unbounded = format == Format::kDecimalExponent;

  if (binary) mantissa /= kNanosPerUnit;
  int exponent = binary ? 0 : kNanoExponent;
  const int max_exponent = binary ? kMaxBinaryExponent : kMaxDecimalExponent;
  const int step = binary ? 10 : 3;
  const int base = binary ? 1024 : 1000;
  while ((exponent < max_exponent || unbounded) && mantissa % base == 0) {
    mantissa /= base;
    exponent += step;
  }
  return (negative ? "-" : "") + DecimalDigits(mantissa) +
         SuffixFor(format, exponent);
}

Amount Quantity::CountOf(int64_t unit) const {
  const Amount count = nanos_ / unit;
  return nanos_ % unit == 0 ? count : count + Sign();
}

Quantity::Nanos Quantity::Multiply(Amount count, int64_t unit) {
  Nanos product;
  if (!__builtin_mul_overflow(count, unit, &product)) return product;
  return count < 0 ? -kLargest : kLargest;
}

Amount Quantity::Value() const { return CountOf(kNanosPerUnit); }

Amount Quantity::MilliValue() const { return CountOf(kNanosPerMilli); }

Quantity& Quantity::operator+=(const Quantity& other) {
  if (IsZero()) format_ = other.format_;
  Nanos sum;
  if (__builtin_add_overflow(nanos_, other.nanos_, &sum)) {
    sum = nanos_ < 0 ? -kLargest : kLargest;
  }
  nanos_ = std::max(sum, -kLargest);
  return *this;
}

}  // namespace minisched
