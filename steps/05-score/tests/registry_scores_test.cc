#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  EXPECT_THAT(WeightsOf(framework, snapshot), ElementsAreArray(kScorePlugins));
}

}  // namespace
}  // namespace minisched
