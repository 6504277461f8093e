#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "plugins/registry.h"
#include "tests/default_scores_testing.h"
#include "tests/handle_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAreArray;

TEST(RegistryTest, ScorePluginsHaveTheOrderAndWeightsOfKubeScheduler) {
  const Snapshot snapshot = SnapshotWithAllPreferences();
  Framework framework;
  AddDefaultPlugins(framework, NewHandle(snapshot));
  std::vector<PluginWeight> weights = kScorePlugins;
  weights.insert(std::find(weights.begin(), weights.end(),
                           PluginWeight("NodeResourcesBalancedAllocation", 1)),
                 {PluginWeight("PodTopologySpread", 2),
                  PluginWeight("InterPodAffinity", 2)});
  EXPECT_THAT(WeightsOf(framework, snapshot), ElementsAreArray(weights));
}

}  // namespace
}  // namespace minisched
