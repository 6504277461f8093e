// Tests that a scheduler's plugins can use the informers.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "minisched/base/fake_clock.h"
#include "scheduler.h"
#include "testing/scripted_cluster.h"
#include "tests/options_testing.h"
#include "tests/scheduler_testing.h"

namespace minisched {
namespace {

// A plugin whose constructor asks for the informer of pods.
class PodCounter final : public Plugin {
 public:
  explicit PodCounter(const Handle& handle)
      : pods_(handle.informers.Of<Pod>()) {}
  std::string_view Name() const override { return "PodCounter"; }

  std::size_t Count() const { return pods_.store().List().size(); }

 private:
  SharedInformer<Pod>& pods_;
};

TEST(SchedulerInformersTest, APluginsConstructorMayAskForAnInformer) {
  FakeClock clock;
  ScriptedCluster cluster(clock);
  Pod pod;
  pod.metadata.namespace_name = "default";
  pod.metadata.name = pod.metadata.uid = "web-0";
  pod.metadata.resource_version = "1";
  cluster.Add(pod);
  Client client(cluster.config());
  Trace trace("minisched", clock);
  const PodCounter* counter = nullptr;
  Registry registry = NewInTreeRegistry();
  registry["PodCounter"] = {ExtensionPointsOf<PodCounter>(),
                            [&](const Handle& handle, const auto&... /*args*/) {
                              auto plugin =
                                  std::make_unique<PodCounter>(handle);
                              counter = plugin.get();
                              return plugin;
                            }};
  const SchedulerOptions options =
      OptionsWith("multiPoint: {enabled: [{name: PodCounter}]}", registry);
  Scheduler scheduler(AppContext{client, "minisched", trace, {}}, options,
                      clock);
  SchedulerPeer::ReadCluster(scheduler);
  ASSERT_NE(counter, nullptr);
  EXPECT_EQ(counter->Count(), 1);
}

}  // namespace
}  // namespace minisched
