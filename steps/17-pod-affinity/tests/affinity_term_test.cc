#include "framework/affinity_term.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/affinity_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

AffinityTerms Parse(const std::string& affinity,
                    const std::string& anti_affinity = "") {
  return ParseAffinityTerms(
      ToPod({.affinity = affinity, .anti_affinity = anti_affinity}, "p"));
}

TEST(AffinityTermTest, WithoutNamespacesATermIsAboutItsOwnNamespace) {
  const AffinityTerms terms = Parse("zone app; zone app in=a1,b1", "rack app");
  ASSERT_EQ(terms.required_affinity.size(), 2U);
  EXPECT_THAT(terms.required_affinity[0].namespaces, ElementsAre("default"));
  EXPECT_THAT(terms.required_affinity[1].namespaces, ElementsAre("a1", "b1"));
  EXPECT_FALSE(terms.required_affinity[0].namespace_selector);
  EXPECT_EQ(terms.required_affinity[0].topology_key, "zone");
  ASSERT_EQ(terms.required_anti_affinity.size(), 1U);
  EXPECT_EQ(terms.required_anti_affinity[0].topology_key, "rack");
}

TEST(AffinityTermTest, ASelectorOfNamespacesReplacesTheOwnNamespace) {
  const AffinityTerms terms = Parse("zone app of=team=a; zone app of=all");
  ASSERT_EQ(terms.required_affinity.size(), 2U);
  for (const AffinityTerm& term : terms.required_affinity) {
    EXPECT_THAT(term.namespaces, IsEmpty());
    EXPECT_TRUE(term.namespace_selector);
  }
  const Pod pod = ToPod({.labels = "app"}, "other");
  EXPECT_TRUE(terms.required_affinity[0].Matches(pod, {{"team", "a"}}));
  EXPECT_FALSE(terms.required_affinity[0].Matches(pod, {}));
  EXPECT_TRUE(terms.required_affinity[1].Matches(pod, {}));
  EXPECT_FALSE(terms.required_affinity[1].Matches(ToPod({}, "no-app"), {}));
}

TEST(AffinityTermTest, MalformedTermsAreLeftOut) {
  const AffinityTerms terms = Parse("zone app; zone -", "zone app");
  EXPECT_THAT(terms.required_affinity, IsEmpty());
  EXPECT_EQ(terms.required_anti_affinity.size(), 1U);
  EXPECT_THAT(terms.error, StartsWith("requiredAffinityTerms: key: Invalid"));
}

TEST(AffinityTermTest, TheErrorNamesAllKindsOfTerms) {
  const std::string error = Parse("zone -", "zone app of=-").error;
  EXPECT_THAT(error, StartsWith("[requiredAffinityTerms: key: Invalid value"));
  EXPECT_THAT(error, ::testing::HasSubstr(
                         ", requiredAntiAffinityTerms: key: Invalid value"));
  EXPECT_TRUE(error.ends_with("]"));
}

TEST(AffinityTermTest, APodInfoHasTheTermsOfItsPod) {
  const auto info = NewPodInfo(std::make_shared<const Pod>(
      ToPod({.affinity = "zone app", .anti_affinity = "rack app"}, "p")));
  EXPECT_EQ(info->affinity_terms.required_affinity.size(), 1U);
  EXPECT_EQ(info->affinity_terms.required_anti_affinity.size(), 1U);
}

}  // namespace
}  // namespace minisched
