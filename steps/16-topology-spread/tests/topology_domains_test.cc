#include "plugins/topology_domains.h"

#include <gtest/gtest.h>

namespace minisched {
namespace {

TEST(TopologyDomainsTest, WithoutDomainsTheSmallestNumberIsZero) {
  const TopologyDomains domains({});
  EXPECT_EQ(domains.Min(), 0);
  EXPECT_EQ(domains.size(), 0);
  EXPECT_EQ(domains.Count("a"), 0);
}

TEST(TopologyDomainsTest, KnowsTheSmallestNumberAfterEachUpdate) {
  TopologyDomains domains({{"a", 3}, {"b", 1}, {"c", 1}});
  EXPECT_EQ(domains.Min(), 1);
  domains.Update("b", 1);
  EXPECT_EQ(domains.Min(), 1);
  domains.Update("c", 1);
  EXPECT_EQ(domains.Min(), 2);
  domains.Update("a", -3);
  EXPECT_EQ(domains.Min(), 0);
  EXPECT_EQ(domains.Count("a"), 0);
  EXPECT_EQ(domains.Count("b"), 2);
}

TEST(TopologyDomainsTest, AnUpdateDoesNotMakeADomain) {
  TopologyDomains domains({{"a", 3}});
  domains.Update("b", 1);
  EXPECT_EQ(domains.size(), 1);
  EXPECT_EQ(domains.Count("b"), 0);
  EXPECT_EQ(domains.Min(), 3);
}

TEST(TopologyDomainsTest, ACopyCountsOnItsOwn) {
  const TopologyDomains domains({{"a", 3}, {"b", 5}});
  TopologyDomains copy = domains;
  copy.Update("a", 4);
  EXPECT_EQ(copy.Min(), 5);
  EXPECT_EQ(domains.Min(), 3);
  EXPECT_EQ(domains.Count("a"), 3);
}

}  // namespace
}  // namespace minisched
