#include "plugins/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/default_framework_testing.h"
#include "tests/default_plugins_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAreArray;

TEST(RegistryTest, PluginsRunInTheOrderOfKubeScheduler) {
  const Framework framework = NewDefaultFramework();
  EXPECT_THAT(NamesOf(framework.pre_filter_plugins()),
              ElementsAreArray(kPreFilterPlugins));
  EXPECT_THAT(NamesOf(framework.filter_plugins()),
              ElementsAreArray(kFilterPlugins));
}

}  // namespace
}  // namespace minisched
