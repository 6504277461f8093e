#include "minisched/api/quantity.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "minisched/api/parse_error.h"

namespace minisched {
namespace {

using Format = Quantity::Format;

constexpr auto kSI = Format::kDecimalSI;
constexpr auto kBinary = Format::kBinarySI;
constexpr auto kExponent = Format::kDecimalExponent;
constexpr int64_t kMaxInt64 = std::numeric_limits<int64_t>::max();
constexpr int64_t kMinInt64 = std::numeric_limits<int64_t>::min();
constexpr Amount kLargestNanos = ((Amount{1} << 126) - 1) * 2 + 1;
constexpr Amount kMega = 1'000'000;

// The largest quantity, and the smallest that is too large.
constexpr char kLargest[] = "170141183460469231731687303715884105727n";
constexpr char kTooLarge[] = "170141183460469231731687303715884105728n";

TEST(QuantityTest, ParsesAndPrints) {
  const struct {
    std::string text;
    std::string canonical;
    Format format;
  } tests[] = {
      {"0", "0", kSI},
      {"0m", "0", kSI},
      {"0Ki", "0", kBinary},
      {"-0", "0", kSI},
      // A suffix of each kind.
      {"5n", "5n", kSI},
      {"4u", "4u", kSI},
      {"3m", "3m", kSI},
      {"9", "9", kSI},
      {"8k", "8k", kSI},
      {"7M", "7M", kSI},
      {"6G", "6G", kSI},
      {"5T", "5T", kSI},
      {"2P", "2P", kSI},
      {"1E", "1E", kSI},
      {"1Ki", "1Ki", kBinary},
      {"7Mi", "7Mi", kBinary},
      {"6Gi", "6Gi", kBinary},
      {"5Ti", "5Ti", kBinary},
      {"4Pi", "4Pi", kBinary},
      {"3Ei", "3Ei", kBinary},
      {"1e3", "1e3", kExponent},
      {"1E6", "1e6", kExponent},
      {"1E-3", "1e-3", kExponent},
      {"2e+9", "2e9", kExponent},
      {"5e0", "5", kExponent},
      // The largest suffix that leaves no fraction.
      {"1.5", "1500m", kSI},
      {"1.500", "1500m", kSI},
      {"0.1", "100m", kSI},
      {"1000m", "1", kSI},
      {"50000", "50k", kSI},
      {"1500k", "1500k", kSI},
      {"1234000000n", "1234m", kSI},
      {"1e4", "10e3", kExponent},
      {"1.3e6", "1300e3", kExponent},
      {"1000e18", "1e21", kExponent},
      {"1000E", "1000E", kSI},
      {"1.5Gi", "1536Mi", kBinary},
      {"1024Ki", "1Mi", kBinary},
      {"1000Ki", "1000Ki", kBinary},
      // BinarySI has no form for these.
      {"0.5Ki", "512", kBinary},
      {"1.1Ki", "1126400m", kBinary},
      {"0.1Ki", "102400m", kBinary},
      {"0.0005Ki", "512m", kSI},
      // Signs and missing digits.
      {"+7", "7", kSI},
      {"-1.5Gi", "-1536Mi", kBinary},
      {"-20e3", "-20e3", kExponent},
      {".001", "1m", kSI},
      {"1.", "1", kSI},
      {"1.G", "1G", kSI},
      {"007", "7", kSI},
      {"Ki", "0", kBinary},
      {"-", "0", kSI},
      // Fractions of a nano are rounded away from zero.
      {"3.001n", "4n", kSI},
      {"-3.001n", "-4n", kSI},
      {"0.0000000001", "1n", kSI},
      {"1.1E-9", "2e-9", kExponent},
      {"1e-2000000000", "1e-9", kExponent},
      {"0.000000000001Ki", "2n", kSI},
      {"0.00000000000000000000000000000000001Ei", "1n", kSI},
      {"1.0000000000000000000000000001Ei", "1152921504606846976000000001n",
       kBinary},
      // BinarySI is capped.
      {"7Ei", "7Ei", kBinary},
      {"8Ei", "9223372036854775807", kBinary},
      {"-9Ei", "-9223372036854775807", kBinary},
      {"99999999999999999999999999999999999Ei", "9223372036854775807", kBinary},
      // Decimal formats are not.
      {"12E", "12E", kSI},
      {"9223372036854775808", "9223372036854775808", kSI},
      {"100e27", "100e27", kExponent},
      {kLargest, kLargest, kSI},
      {std::string("-") + kLargest, std::string("-") + kLargest, kSI},
      {"0e2000000000", "0", kExponent},
  };
  for (const auto& test : tests) {
    SCOPED_TRACE(test.text);
    const Quantity quantity = Quantity::Parse(test.text);
    EXPECT_EQ(quantity.ToString(), test.canonical);
    EXPECT_EQ(quantity.format(), test.format);
    EXPECT_EQ(Quantity::Parse(test.canonical), quantity);
  }
}

TEST(QuantityTest, RejectsMalformedAndTooLargeText) {
  const std::string kFormat = "quantities must match the regular expression";
  const std::string kSuffix = "unable to parse quantity's suffix";
  const std::string kSize = "the number is too large";
  const struct {
    std::string text;
    std::string error;
  } tests[] = {
      {"", kFormat},
      {" 1", kFormat},
      {"1 ", kFormat},
      {"1.1.M", kFormat},
      {"1+1.0M", kFormat},
      {"--1", kSuffix},
      {"0.1am", kFormat},
      {"aoeu", kFormat},
      {"1,5", kFormat},
      {"0x10", kFormat},
      {"e+-5", kFormat},
      {"1i", kSuffix},
      {".5i", kSuffix},
      {"0.1mi", kSuffix},
      {"1K", kSuffix},
      {"1Ki3", kSuffix},
      {"1+5", kSuffix},
      {"1e", kSuffix},
      {"-3.01e-", kSuffix},
      {"1ee3", kSuffix},
      {"1e99999999999", kSuffix},
      {kTooLarge, kSize},
      {"1e30", kSize},
      {"-1e2000000000", kSize},
      {"999999999999E", kSize},
  };
  for (const auto& test : tests) {
    SCOPED_TRACE(test.text);
    try {
      Quantity::Parse(test.text);
      ADD_FAILURE() << "parsed";
    } catch (const ParseError& error) {
      const std::string what = error.what();
      EXPECT_NE(what.find(Quoted(test.text)), what.npos) << what;
      EXPECT_NE(what.find(test.error), what.npos) << what;
    }
  }
}

TEST(QuantityTest, RoundsValuesAwayFromZero) {
  const struct {
    std::string text;
    Amount value;
    Amount milli_value;
  } tests[] = {
      {"0", 0, 0},
      {"1", 1, 1000},
      {"100m", 1, 100},
      {"1001m", 2, 1001},
      {"1n", 1, 1},
      {"-1n", -1, -1},
      {"-1500m", -2, -1500},
      {"1500001u", 2, 1501},
      {"1.5Ki", 1536, 1536000},
      {"9223372036854775807m", 9223372036854776, kMaxInt64},
      {"-9223372036854775808m", -9223372036854776, kMinInt64},
  };
  for (const auto& test : tests) {
    SCOPED_TRACE(test.text);
    EXPECT_EQ(Quantity::Parse(test.text).Value(), test.value);
    EXPECT_EQ(Quantity::Parse(test.text).MilliValue(), test.milli_value);
  }
}

TEST(QuantityTest, ValuesBeyond64BitsAreExact) {
  EXPECT_EQ(Quantity::Parse("9223372036854775807").Value(), kMaxInt64);
  EXPECT_EQ(Quantity::Parse("-9223372036854775808").Value(), kMinInt64);
  EXPECT_EQ(Quantity::Parse("9223372036854775807.1").Value(),
            Amount{kMaxInt64} + 1);
  EXPECT_EQ(Quantity::Parse("-9223372036854775809").Value(),
            Amount{kMinInt64} - 1);
  EXPECT_EQ(Quantity::Parse("9223372036854775808m").MilliValue(),
            Amount{kMaxInt64} + 1);
  EXPECT_EQ(Quantity::Parse("8Ei").MilliValue(), Amount{kMaxInt64} * 1000);
  EXPECT_EQ(Quantity::Parse(kLargest).MilliValue(), kLargestNanos / kMega + 1);
}

// Numbers near the powers of 2 and 10 up to the largest, which __int128 holds.
std::vector<Amount> ExtremeNanos() {
  std::vector<Amount> numbers = {0, kLargestNanos};
  for (const int base : {2, 10}) {
    for (Amount power = 1; power <= kLargestNanos / base; power *= base) {
      for (const int offset : {-1, 0, 1}) {
        numbers.push_back(power * base + offset);
        numbers.push_back(power * base / 3 * 2 + offset);
      }
    }
  }
  for (const Amount number : std::vector<Amount>(numbers)) {
    numbers.push_back(-number);
  }
  return numbers;
}

Amount DivideUp(Amount number, Amount divisor) {  // away from zero
  const Amount rest = number % divisor;
  return number / divisor + (rest > 0 ? 1 : 0) - (rest < 0 ? 1 : 0);
}

TEST(QuantityTest, ExtremeNumbersAreExact) {
  for (const Amount nanos : ExtremeNanos()) {
    const std::string text = fmt::format("{}n", nanos);
    SCOPED_TRACE(text);
    const Quantity quantity = Quantity::Parse(text);
    EXPECT_EQ(quantity.Value(), DivideUp(nanos, kMega * 1000));
    EXPECT_EQ(quantity.MilliValue(), DivideUp(nanos, kMega));
    const std::string canonical = quantity.ToString();
    EXPECT_EQ(Quantity::Parse(canonical), quantity);
    EXPECT_EQ(Quantity::Parse(canonical).ToString(), canonical);
  }
}

TEST(QuantityTest, ExtremeUnitsAndThousandthsAreKept) {
  constexpr Amount kMost = kLargestNanos / kMega / 1000;
  for (const Amount number : ExtremeNanos()) {
    if (number > kMost || number < -kMost) continue;
    SCOPED_TRACE(fmt::format("{}", number));
    for (const Format format : {kSI, kBinary, kExponent}) {
      EXPECT_EQ(Quantity::FromValue(number, format).Value(), number);
      EXPECT_EQ(Quantity::FromMilli(number, format).MilliValue(), number);
      // Parse() caps in BinarySI.
      const Quantity quantity = Quantity::FromValue(number, format);
      const std::string text = quantity.ToString();
      if (format == kBinary && (number > kMaxInt64 || number < -kMaxInt64)) {
        continue;
      }
      EXPECT_EQ(Quantity::Parse(text), quantity) << text;
    }
  }
}

TEST(QuantityTest, AmountsOutOfRangeBecomeTheLargestOrSmallest) {
  EXPECT_EQ(Quantity::FromValue(kLargestNanos), Quantity::Parse(kLargest));
  EXPECT_EQ(Quantity::FromMilli(kLargestNanos), Quantity::Parse(kLargest));
  EXPECT_EQ(Quantity::FromValue(-kLargestNanos),
            Quantity::Parse("-" + std::string(kLargest)));
}

TEST(QuantityTest, ExtremeSumsAreExactOrSaturate) {
  const std::vector<Amount> numbers = ExtremeNanos();
  const auto of = [](Amount nanos) {
    return Quantity::Parse(fmt::format("{}n", nanos));
  };
  for (std::size_t i = 0; i < numbers.size(); i += 17) {
    for (std::size_t j = 0; j < numbers.size(); j += 13) {
      const Amount a = numbers[i];
      const Amount b = numbers[j];
      Quantity sum = of(a);
      sum += of(b);
      if (a > 0 && b > kLargestNanos - a) {
        EXPECT_EQ(sum, of(kLargestNanos));
      } else if (a < 0 && b < -kLargestNanos - a) {
        EXPECT_EQ(sum, of(-kLargestNanos));
      } else {
        EXPECT_EQ(sum, of(a + b));
      }
    }
  }
}

TEST(QuantityTest, ConvertsNumbers) {
  EXPECT_EQ(Quantity().ToString(), "0");
  EXPECT_EQ(Quantity::FromValue(5000).ToString(), "5k");
  EXPECT_EQ(Quantity::FromValue(2048, kBinary).ToString(), "2Ki");
  EXPECT_EQ(Quantity::FromValue(kMaxInt64).Value(), kMaxInt64);
  EXPECT_EQ(Quantity::FromValue(kMinInt64, kBinary).ToString(), "-8Ei");
  EXPECT_EQ(Quantity::FromMilli(1500).ToString(), "1500m");
  EXPECT_EQ(Quantity::FromMilli(1500, kExponent).ToString(), "1500e-3");
  EXPECT_EQ(Quantity::FromMilli(kMinInt64).MilliValue(), kMinInt64);
}

TEST(QuantityTest, ComparesByValue) {
  Quantity last = Quantity::Parse("-2Ei");
  for (const std::string text :
       {"-1Ei", "-1", "-1n", "0", "1n", "1m", "1", "1001m", "1k", "1Ki"}) {
    const Quantity quantity = Quantity::Parse(text);
    EXPECT_LT(last, quantity) << text;
    EXPECT_NE(last, quantity) << text;
    last = quantity;
  }
  EXPECT_EQ(Quantity::Parse("1k"), Quantity::Parse("1e3"));
  EXPECT_EQ(Quantity::Parse("1Ki"), Quantity::Parse("1024"));
  EXPECT_EQ(Quantity::Parse("0Ki"), Quantity());
}

TEST(QuantityTest, ReturnsTheSign) {
  EXPECT_EQ(Quantity::Parse("-1n").Sign(), -1);
  EXPECT_EQ(Quantity::Parse("0").Sign(), 0);
  EXPECT_EQ(Quantity::Parse("1E").Sign(), 1);
  EXPECT_TRUE(Quantity::Parse("0Gi").IsZero());
  EXPECT_FALSE(Quantity::Parse("1n").IsZero());
}

TEST(QuantityTest, Adds) {
  const struct {
    std::string a;
    std::string b;
    std::string sum;
  } tests[] = {
      {"100m", "900m", "1"},
      {"0.1", "0.2", "300m"},
      {"1Gi", "512Mi", "1536Mi"},
      {"1Gi", "1G", "2073741824"},
      {"1Gi", "-1G", "73741824"},
      {"1", "1n", "1000000001n"},
      {"7Ei", "7Ei", "14Ei"},
      {"7Ei", "-7Ei", "0"},
      // A zero takes the format of the other operand.
      {"0", "1Ki", "1Ki"},
      {"0Ki", "1000", "1k"},
      {"1Ki", "0", "1Ki"},
  };
  for (const auto& test : tests) {
    SCOPED_TRACE(test.a + " and " + test.b);
    Quantity sum = Quantity::Parse(test.a);
    sum += Quantity::Parse(test.b);
    EXPECT_EQ(sum.ToString(), test.sum);
  }
}

TEST(QuantityTest, SumsSaturate) {
  for (const std::string sign : {"", "-"}) {
    const Quantity most = Quantity::Parse(sign + kLargest);
    Quantity sum = most;
    sum += Quantity::Parse(sign + "1n");
    EXPECT_EQ(sum, most);
    sum += most;
    EXPECT_EQ(sum, most);
    EXPECT_EQ(sum.ToString(), sign + kLargest);
  }
}

TEST(ParseErrorTest, QuotedTextIsPrintableAndShort) {
  EXPECT_EQ(Quoted(""), R"("")");
  EXPECT_EQ(Quoted("a b"), R"("a b")");
  EXPECT_EQ(Quoted("a\"\\\n\xff"), R"("a\"\\\x0a\xff")");
  EXPECT_EQ(Quoted(std::string(64, 'x')), '"' + std::string(64, 'x') + '"');
  EXPECT_EQ(Quoted(std::string(65, 'x')), '"' + std::string(64, 'x') + "...\"");
}

}  // namespace
}  // namespace minisched
