#include "minisched/api/resource.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

Resource ResourceOf(const std::string& name, const std::string& quantity) {
  return Resource({{name, Quantity::Parse(quantity)}});
}

TEST(ResourceTest, EmptyResource) {
  const Resource resource(ResourceList{});
  EXPECT_EQ(resource.milli_cpu, 0);
  EXPECT_EQ(resource.memory, 0);
  EXPECT_EQ(resource.ephemeral_storage, 0);
  EXPECT_EQ(resource.allowed_pod_number, 0);
  EXPECT_THAT(resource.scalar_resources, IsEmpty());
}

TEST(ResourceTest, ComplexResource) {
  const Resource resource({{"cpu", Quantity::Parse("4m")},
                           {"memory", Quantity::Parse("2000")},
                           {"pods", Quantity::Parse("80")},
                           {"ephemeral-storage", Quantity::Parse("5k")},
                           {"scalar.test/scalar1", Quantity::Parse("1")},
                           {"hugepages-test", Quantity::Parse("2")}});
  EXPECT_EQ(resource.milli_cpu, 4);
  EXPECT_EQ(resource.memory, 2000);
  EXPECT_EQ(resource.ephemeral_storage, 5000);
  EXPECT_EQ(resource.allowed_pod_number, 80);
  EXPECT_THAT(
      resource.scalar_resources,
      ElementsAre(Pair("hugepages-test", 2), Pair("scalar.test/scalar1", 1)));
}

TEST(ResourceTest, RoundsFractionsUp) {
  EXPECT_EQ(ResourceOf("cpu", "1").milli_cpu, 1000);
  EXPECT_EQ(ResourceOf("cpu", "1500u").milli_cpu, 2);
  EXPECT_EQ(ResourceOf("memory", "100m").memory, 1);
  EXPECT_EQ(ResourceOf("example.com/gpu", "1500m").Scalar("example.com/gpu"),
            2);
}

TEST(ResourceTest, LargeAmountsAreExact) {
  constexpr Amount kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(ResourceOf("cpu", "9223372036854775807m").milli_cpu, kMost);
  EXPECT_EQ(ResourceOf("cpu", "9223372036854775807").milli_cpu, kMost * 1000);
  EXPECT_EQ(ResourceOf("memory", "8Ei").memory, kMost);
  EXPECT_EQ(ResourceOf("ephemeral-storage", "3P").ephemeral_storage,
            3'000'000'000'000'000);
  EXPECT_EQ(ResourceOf("pods", "10E").allowed_pod_number,
            Amount{10} * 1'000'000'000'000'000'000);
  EXPECT_EQ(ResourceOf("example.com/bytes", "2P").Scalar("example.com/bytes"),
            2'000'000'000'000'000);
}

TEST(ResourceTest, NegativeQuantitiesBecomeZero) {
  EXPECT_EQ(ResourceOf("cpu", "-1e29").milli_cpu, 0);
  EXPECT_EQ(ResourceOf("memory", "-1").memory, 0);
  EXPECT_EQ(ResourceOf("example.com/gpu", "-1").Scalar("example.com/gpu"), 0);
}

// A sum that stopped at a limit would be too small after the subtraction.
TEST(ResourceTest, SumsOfLargeAmountsAreExact) {
  const Resource first({{"cpu", Quantity::Parse("1e29")},
                        {"memory", Quantity::Parse("8Ei")},
                        {"example.com/bytes", Quantity::Parse("1e29")}});
  Resource sum = first;
  for (int i = 0; i < 1000; ++i) sum += first;
  EXPECT_GT(sum.milli_cpu, first.milli_cpu * 1000);
  for (int i = 0; i < 1000; ++i) sum -= first;
  EXPECT_EQ(sum.milli_cpu, first.milli_cpu);
  EXPECT_EQ(sum.memory, first.memory);
  EXPECT_EQ(sum.Scalar("example.com/bytes"), first.Scalar("example.com/bytes"));
}

TEST(ResourceTest, AnAbsentScalarResourceIsZero) {
  EXPECT_EQ(Resource().Scalar("example.com/gpu"), 0);
}

TEST(ResourceTest, AddsAllAmounts) {
  Resource sum({{"cpu", Quantity::Parse("1")},
                {"memory", Quantity::Parse("2")},
                {"ephemeral-storage", Quantity::Parse("3")},
                {"pods", Quantity::Parse("4")},
                {"a.com/both", Quantity::Parse("5")},
                {"a.com/left", Quantity::Parse("6")}});
  sum += Resource({{"cpu", Quantity::Parse("10")},
                   {"memory", Quantity::Parse("20")},
                   {"ephemeral-storage", Quantity::Parse("30")},
                   {"pods", Quantity::Parse("40")},
                   {"a.com/both", Quantity::Parse("50")},
                   {"a.com/right", Quantity::Parse("60")}});
  EXPECT_EQ(sum.milli_cpu, 11000);
  EXPECT_EQ(sum.memory, 22);
  EXPECT_EQ(sum.ephemeral_storage, 33);
  EXPECT_EQ(sum.allowed_pod_number, 44);
  EXPECT_THAT(sum.scalar_resources,
              ElementsAre(Pair("a.com/both", 55), Pair("a.com/left", 6),
                          Pair("a.com/right", 60)));
}

TEST(ResourceTest, SubtractsAllAmounts) {
  const Resource subtracted({{"cpu", Quantity::Parse("1")},
                             {"memory", Quantity::Parse("2")},
                             {"ephemeral-storage", Quantity::Parse("3")},
                             {"pods", Quantity::Parse("4")},
                             {"a.com/both", Quantity::Parse("5")},
                             {"a.com/right", Quantity::Parse("6")}});
  Resource rest({{"cpu", Quantity::Parse("10")},
                 {"memory", Quantity::Parse("20")},
                 {"ephemeral-storage", Quantity::Parse("30")},
                 {"pods", Quantity::Parse("40")},
                 {"a.com/both", Quantity::Parse("50")},
                 {"a.com/left", Quantity::Parse("60")}});
  rest += subtracted;
  rest -= subtracted;
  EXPECT_EQ(rest.milli_cpu, 10000);
  EXPECT_EQ(rest.memory, 20);
  EXPECT_EQ(rest.ephemeral_storage, 30);
  EXPECT_EQ(rest.allowed_pod_number, 40);
  // A resource that is used up stays, with the amount 0.
  EXPECT_THAT(rest.scalar_resources,
              ElementsAre(Pair("a.com/both", 50), Pair("a.com/left", 60),
                          Pair("a.com/right", 0)));
}

}  // namespace
}  // namespace minisched
