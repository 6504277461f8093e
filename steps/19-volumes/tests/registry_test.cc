#include "plugins/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/default_framework_testing.h"
#include "tests/default_plugins_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAreArray;

// Returns the plugins of step 04, and those that later steps have added.
std::vector<std::string> AndThoseOfLaterSteps(
    std::vector<std::string> plugins) {
  plugins.insert(plugins.end(),
                 {"VolumeRestrictions", "VolumeBinding", "VolumeZone",
                  "PodTopologySpread", "InterPodAffinity"});
  return plugins;
}

TEST(RegistryTest, PluginsRunInTheOrderOfKubeScheduler) {
  const Framework framework = NewDefaultFramework();
  EXPECT_THAT(NamesOf(framework.pre_filter_plugins()),
              ElementsAreArray(AndThoseOfLaterSteps(kPreFilterPlugins)));
  EXPECT_THAT(NamesOf(framework.filter_plugins()),
              ElementsAreArray(AndThoseOfLaterSteps(kFilterPlugins)));
}

}  // namespace
}  // namespace minisched
