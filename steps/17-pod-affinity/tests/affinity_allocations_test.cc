// What the dry run of preemption allocates for a pod with anti-affinity. Not
// built with sanitizers, which have an operator new of their own.
#include <gtest/gtest.h>

#include <string>

#include "tests/affinity_testing.h"
#include "tests/dry_run_testing.h"

namespace minisched {
namespace {

class AffinityAllocationsTest : public ::testing::Test {
 protected:
  // Returns a pod with the label app=APP, which avoids pods with `avoided`.
  static Pod PodOf(const std::string& app, const std::string& avoided,
                   int priority = 0) {
    Pod pod = NewPodOf(app, {.priority = priority, .labels = {{"app", app}}});
    pod.spec.affinity.pod_anti_affinity.required = ParseAffinity(avoided);
    return pod;
  }

  static std::int64_t Bytes(int nodes, const Pod& urgent, const Pod& other) {
    return BytesOfDryRun(nodes, urgent, other, TestNamespaces());
  }

  // Expects that the cost on one node doesn't depend on the others. Otherwise,
  // preemption would be quadratic in the number of nodes.
  static void ExpectSameCost(const Pod& urgent, const Pod& other) {
    EXPECT_EQ(Bytes(1000, urgent, other), Bytes(10, urgent, other));
  }
};

TEST_F(AffinityAllocationsTest, PodsThatThePodAvoids) {
  ExpectSameCost(PodOf("urgent", "host app=web", 9), PodOf("web", ""));
}

TEST_F(AffinityAllocationsTest, PodsThatRepelThePod) {
  ExpectSameCost(PodOf("urgent", "", 9), PodOf("web", "host app=urgent"));
}

TEST_F(AffinityAllocationsTest, PodsThatThePodRequires) {
  Pod urgent = PodOf("urgent", "", 9);
  urgent.spec.affinity.pod_affinity.required = ParseAffinity("host app=web");
  ExpectSameCost(urgent, PodOf("web", ""));
}

}  // namespace
}  // namespace minisched
