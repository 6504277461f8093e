// Quantity: an amount of a resource, such as "500m" of cpu or "2Gi" of memory.
// Follows apimachinery pkg/api/resource/quantity.go and suffix.go.

#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace minisched {

// A number of units, or of thousandths of a unit. 128 bits hold any quantity,
// and the sum of a million quantities.
__extension__ typedef __int128 Amount;

// An exact fixed-point number, counted in nanos (1e-9 units), so that "100m"
// and sums of such amounts have no rounding errors. The unit depends on the
// resource: a core of cpu, a byte of memory. 128 bits hold up to 1.7e29 units.
//
// A value type. Const access is thread-safe.
class Quantity {
 public:
  // The family of suffixes for printing, taken from the parsed text.
  enum class Format {
    kDecimalSI,        // n u m "" k M G T P E: powers of 1000
    kBinarySI,         // Ki Mi Gi Ti Pi Ei: powers of 1024
    kDecimalExponent,  // e3, E-6: powers of 10
  };

  // Zero, in DecimalSI.
  Quantity() = default;

  // Parses [sign] digits [. digits] [suffix]. As upstream, text without digits
  // is zero. Fractions of a nano are rounded away from zero, so that a small
  // request doesn't become zero.
  //
  // In BinarySI, a magnitude above 2^63-1 becomes 2^63-1, and a magnitude
  // between 0 and 1 changes the format to DecimalSI.
  //
  // Throws ParseError if `text` is malformed or, except in BinarySI, if the
  // number is too large. Upstream has no limit.
  static Quantity Parse(std::string_view text);

  // Return `units` units (cores, bytes, …), or `millis` thousandths of a unit:
  // FromMilli(500) is half a core. An amount beyond the largest or smallest
  // number becomes that number.
  static Quantity FromValue(Amount units, Format format = Format::kDecimalSI);
  static Quantity FromMilli(Amount millis, Format format = Format::kDecimalSI);

  // Returns the canonical form: without a fraction, with the largest suffix
  // that makes this possible. 1.5 is "1500m", 1.5Gi is "1536Mi". BinarySI is
  // printed as DecimalSI if the number has a fraction or is between -1024 and
  // 1024. Parse() accepts the result, but caps it at 2^63-1 in BinarySI.
  std::string ToString() const;

  // Return the number in units and in thousandths, rounded away from zero.
  Amount Value() const;
  Amount MilliValue() const;

  bool IsZero() const { return nanos_ == 0; }
  // Returns -1, 0 or 1.
  int Sign() const { return (nanos_ > 0) - (nanos_ < 0); }
  Format format() const { return format_; }

  // Adds `other`. A zero takes the format of `other`. A sum beyond the largest
  // or smallest number becomes that number, so that absurd amounts in objects
  // cause no error. They are far beyond what any node has.
  Quantity& operator+=(const Quantity& other);

  // Compare the numbers and ignore the formats: 1k, 1e3 and 1000 are equal.
  friend bool operator==(const Quantity& a, const Quantity& b) {
    return a.nanos_ == b.nanos_;
  }
  friend std::weak_ordering operator<=>(const Quantity& a, const Quantity& b) {
    return a.nanos_ <=> b.nanos_;
  }

 private:
  using Nanos = Amount;

  Quantity(Nanos nanos, Format format) : nanos_(nanos), format_(format) {}

  // Returns the number divided by `unit` nanos, rounded away from zero.
  Amount CountOf(int64_t unit) const;
  // Returns `count` times `unit` nanos.
  static Nanos Multiply(Amount count, int64_t unit);

  Nanos nanos_ = 0;
  Format format_ = Format::kDecimalSI;
};

}  // namespace minisched
