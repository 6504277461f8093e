#include "lab/explain/amounts.h"

#include <gtest/gtest.h>

#include <limits>

namespace minisched::explain {
namespace {

TEST(AmountsTest, ShowsCoresAndBytes) {
  EXPECT_EQ(ShowAmount("cpu", 2500), "2.5");
  EXPECT_EQ(ShowAmount("cpu", 8000), "8");
  EXPECT_EQ(ShowAmount("cpu", 1), "0.001");
  EXPECT_EQ(ShowAmount("cpu", 0), "0");
  EXPECT_EQ(ShowAmount("memory", 0), "0");
  EXPECT_EQ(ShowAmount("memory", 1000), "1000");
  EXPECT_EQ(ShowAmount("memory", 1 << 20), "1Mi");
  EXPECT_EQ(ShowAmount("memory", 3LL << 29), "1.5Gi");
  EXPECT_EQ(ShowAmount("ephemeral-storage", 1LL << 40), "1Ti");
  EXPECT_EQ(ShowAmount("hugepages-2Mi", 4 << 20), "4Mi");
  EXPECT_EQ(ShowAmount("example.com/gpu", 2), "2");
}

TEST(AmountsTest, RoundsDown) {
  EXPECT_EQ(ShowAmount("memory", 1536), "1.5Ki");
  EXPECT_EQ(ShowAmount("memory", (1LL << 30) - 1), "1023.99Mi");
  EXPECT_EQ(ShowAmount("memory", (2LL << 30) - 1), "1.99Gi");
  EXPECT_EQ(ShowAmount("memory", (1LL << 30) + 1), "1Gi");
  EXPECT_EQ(ShowAmount("memory", 1LL << 50), "1Pi");
  EXPECT_EQ(ShowAmount("memory", Amount{3} << 79), "1572864Ei");
  EXPECT_EQ(ShowAmount("example.com/bytes", Amount{10} << 60),
            "11529215046068469760");
  EXPECT_EQ(ShowAmount("memory", std::numeric_limits<std::int64_t>::max()),
            "7.99Ei");
}

TEST(AmountsTest, QuantitiesAreExact) {
  EXPECT_EQ(ToQuantity("cpu", 2500), "2500m");
  EXPECT_EQ(ToQuantity("cpu", 4000), "4");
  EXPECT_EQ(ToQuantity("memory", 3LL << 29), "1536Mi");
  EXPECT_EQ(ToQuantity("memory", (1LL << 30) + 1), "1073741825");
  EXPECT_EQ(ToQuantity("example.com/gpu", 2), "2");
  EXPECT_EQ(ToQuantity("example.com/bytes", 2'000'000'000'000'000), "2P");
  EXPECT_EQ(ToQuantity("cpu", 9'007'199'254'740'993), "9007199254740993m");
  EXPECT_EQ(ToQuantity("memory", std::numeric_limits<std::int64_t>::max()),
            "9223372036854775807");
}

}  // namespace
}  // namespace minisched::explain
