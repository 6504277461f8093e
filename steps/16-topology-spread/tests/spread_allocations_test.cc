// What the dry run of preemption allocates for a pod with a spread constraint.
// Not built with sanitizers, which have an operator new of their own.
#include <gtest/gtest.h>

#include "tests/dry_run_testing.h"
#include "tests/spread_testing.h"

namespace minisched {
namespace {

// Otherwise, preemption would be quadratic in the number of nodes.
TEST(SpreadAllocationsTest, TheDryRunOnANodeCostsTheSameInALargeCluster) {
  const Pod web = NewPodOf("web", {.labels = {{"app", "web"}}});
  Pod urgent = NewPodOf("urgent", {.priority = 9, .labels = {{"app", "web"}}});
  urgent.spec.topology_spread_constraints =
      ParseConstraints("1 host app=web min=100000");
  EXPECT_EQ(BytesOfDryRun(1000, urgent, web), BytesOfDryRun(10, urgent, web));
}

}  // namespace
}  // namespace minisched
