// Tests which plugins count as those that rejected a pod: their events wake it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <stop_token>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "minisched/api/json.h"
#include "minisched/base/fake_clock.h"
#include "scheduler.h"
#include "testing/scripted_cluster.h"

namespace minisched {
namespace {

// Blocks until a pod is unschedulable, and returns the plugins that rejected
// it. Returns nothing after 20 s.
std::vector<std::string> AwaitRejection(TraceReader& reader) {
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (std::chrono::steady_clock::now() < deadline) {
    for (const RecordPtr& record : reader.Poll()) {
      const auto* pod = std::get_if<PodRecord>(&record->state);
      if (pod == nullptr || pod->place != Place::kUnschedulable) continue;
      return {pod->move.plugins.begin(), pod->move.plugins.end()};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return {};
}

// NodeAffinity leaves only node n, which is full. So the pod waits for the
// events of both plugins, as upstream.
TEST(UnschedulablePluginsTest, APluginThatLeavesOnlySomeNodesCounts) {
  FakeClock clock;
  ScriptedCluster cluster(clock);
  cluster.Add(FromJson<Node>(R"({"metadata":{"name":"n"},
      "status":{"allocatable":{"pods":"0"}}})"));
  cluster.Add(FromJson<Node>(R"({"metadata":{"name":"o"},
      "status":{"allocatable":{"pods":"9"}}})"));
  cluster.Add(FromJson<Pod>(R"({
      "metadata":{"namespace":"default","name":"a","uid":"a"},
      "spec":{"schedulerName":"minisched","affinity":{"nodeAffinity":{
        "requiredDuringSchedulingIgnoredDuringExecution":{
          "nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name",
            "operator":"In","values":["n"]}]}]}}}}})"));
  Client client(cluster.config());
  Trace trace("minisched", clock);
  TraceReader reader(trace);
  Scheduler scheduler({client, "minisched", trace, {}}, {}, clock);
  const std::jthread run(
      [&](const std::stop_token& stop) { scheduler.Run(stop); });
  EXPECT_THAT(AwaitRejection(reader),
              ::testing::ElementsAre("NodeAffinity", "NodeResourcesFit"));
}

}  // namespace
}  // namespace minisched
