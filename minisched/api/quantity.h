// Quantity: an amount of a resource, such as "500m" of cpu or "2Gi" of memory.
// Follows apimachinery pkg/api/resource/quantity.go and suffix.go.

#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace minisched {

// An exact fixed-point number, counted in nanos (1e-9 units), so that neither
// "100m" nor a sum of them is ever off. What "one" means is the resource's
// matter: a core of cpu, a byte of memory. 128 bits hold up to 1.7e29 units.
//
// A value type. Const access is safe from any number of threads.
class Quantity {
 public:
  // The family of suffixes to print with: that of the text it came from.
  enum class Format {
    kDecimalSI,        // n u m "" k M G T P E: powers of 1000
    kBinarySI,         // Ki Mi Gi Ti Pi Ei: powers of 1024
    kDecimalExponent,  // e3, E-6: powers of 10
  };

  // Zero, in DecimalSI.
  Quantity() = default;

  // Reads [sign] digits [. digits] [suffix]. No digits at all read as zero, as
  // upstream. A fraction of a nano is rounded up, away from zero: who asks for
  // something gets something.
  //
  // In BinarySI, a magnitude above 2^63-1 is capped there, and one between 0
  // and 1 makes the format DecimalSI.
  //
  // Throws ParseError if `text` is malformed, or is too large to be held
  // (BinarySI never is). Upstream holds any size.
  static Quantity Parse(std::string_view text);

  static Quantity FromValue(int64_t units, Format format = Format::kDecimalSI);
  static Quantity FromMilli(int64_t millis, Format format = Format::kDecimalSI);

  // The canonical form: no fraction, and the largest suffix that allows it.
  // 1.5 prints as "1500m", 1.5Gi as "1536Mi". BinarySI prints as DecimalSI when
  // it has a fraction or is between -1024 and 1024. Parse() reads it back, but
  // caps what a sum in BinarySI may exceed.
  std::string ToString() const;

  // In units, and in thousandths of one, rounded up, away from zero. Throws
  // std::overflow_error if that does not fit: Parse() lets larger values pass,
  // and a request capped or wrapped in silence would schedule the wrong pods.
  int64_t Value() const;
  int64_t MilliValue() const;

  bool IsZero() const { return nanos_ == 0; }
  // -1, 0 or 1.
  int Sign() const { return (nanos_ > 0) - (nanos_ < 0); }
  Format format() const { return format_; }

  // A zero takes over the format of `other`. Throws std::overflow_error, with
  // this unchanged, if the result is too large to be held.
  Quantity& operator+=(const Quantity& other);

  // By value, whatever the format: 1k, 1e3 and 1000 are equal.
  friend bool operator==(const Quantity& a, const Quantity& b) {
    return a.nanos_ == b.nanos_;
  }
  friend std::weak_ordering operator<=>(const Quantity& a, const Quantity& b) {
    return a.nanos_ <=> b.nanos_;
  }

 private:
  __extension__ typedef __int128 Nanos;

  Quantity(Nanos nanos, Format format) : nanos_(nanos), format_(format) {}

  // Rounded up, away from zero, to a multiple of `unit` nanos, of which it
  // returns the count.
  int64_t CountOf(int64_t unit) const;

  Nanos nanos_ = 0;
  Format format_ = Format::kDecimalSI;
};

}  // namespace minisched
