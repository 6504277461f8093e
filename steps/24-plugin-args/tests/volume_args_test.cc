// Tests the arguments of VolumeBinding. Cases with upstream's names are from
// volumebinding/scorer_test.go.
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include "plugins/volume_binding.h"
#include "plugins/volume_scorer.h"
#include "tests/args_testing.h"
#include "tests/bind_pod_volumes_testing.h"

namespace minisched {
namespace {

using namespace std::chrono_literals;

// Binds the volumes of the pod with the plugin, which has the timeout of a
// file.
class BindTimeoutTest : public BindPodVolumesTest {
 protected:
  ~BindTimeoutTest() override {
    stop_.request_stop();
    if (result_.valid()) result_.wait();
  }

  void PreBind() {
    PreFilterResult left_over;
    plugin_.PreFilter(state_, pod_, {}, left_over);
    const Node node = *client_.Get<Node>("", node_name_);
    plugin_.Filter(state_, pod_, NodeWithPods(node, {}));
    plugin_.Reserve(state_, pod_, node_name_);
    const auto result = std::make_shared<std::promise<Status>>();
    result_ = result->get_future();
    plugin_.PreBind(
        state_, pod_, node_name_, stop_.get_token(),
        [result](const Status& status) { result->set_value(status); });
  }

  VolumeBinding plugin_{NewHandle(snapshot_, {.informers = informers_,
                                              .client = client_,
                                              .executor = executor_}),
                        ArgsInFile<VolumeBindingArgs>("bindTimeoutSeconds: 3")};
  CycleState state_;
};

TEST_F(BindTimeoutTest, EndsAfterTheTimeoutOfTheArguments) {
  PreBind();
  for (int second = 1; second < 3; ++second) {
    AwaitSleep();
    ASSERT_FALSE(EndsAfter(1s)) << second;
  }
  AwaitSleep();
  ASSERT_TRUE(EndsAfter(1s));
  EXPECT_EQ(Result(), "Error: binding volumes: context deadline exceeded");
}

// Returns the score of existing volumes of 100 bytes, one for each class.
std::int64_t ScoreWithShape(const std::string& shape,
                            const std::vector<int>& requests) {
  PodVolumes volumes;
  for (const int request : requests) {
    const std::string its_class =
        "class-" + std::to_string(volumes.static_bindings.size());
    PersistentVolume volume = Local("pv", 100, "here");
    volume.spec.storage_class_name = its_class;
    volumes.static_bindings.push_back(
        {std::make_shared<const PersistentVolumeClaim>(
             Unbound("c", request, its_class)),
         std::make_shared<const PersistentVolume>(volume)});
  }
  return StorageScore(
      volumes, ArgsInFile<VolumeBindingArgs>("shape: [" + shape + "]").shape);
}

TEST(StorageShapeTest, CustomShapeMultipleClasses) {
  constexpr char kFromHalf[] =
      "{utilization: 50, score: 0}, {utilization: 80, score: 3}, "
      "{utilization: 100, score: 5}";
  struct Case {
    int hdd, ssd, score;
  };
  for (const auto& [hdd, ssd, score] : {Case{0, 0, 0},
                                        {0, 30, 0},
                                        {30, 30, 0},
                                        {30, 60, 5},
                                        {50, 100, 25},
                                        {90, 90, 40},
                                        {100, 100, 50}}) {
    EXPECT_EQ(ScoreWithShape(kFromHalf, {hdd, ssd}), score)
        << hdd << " and " << ssd;
  }
}

// With this shape, volumes that are just large enough win.
TEST(StorageShapeTest, ThePluginScoresWithTheShapeOfTheArguments) {
  const VolumeCluster cluster(
      {.claims = {Unbound("a", 50)},
       .volumes = {Local("pv-a", 200, "node-a"), Local("pv-b", 100, "node-b")},
       .classes = {Class("local", "WaitForFirstConsumer")}});
  const VolumeBinding plugin(
      cluster.handle(),
      ArgsInFile<VolumeBindingArgs>("shape: [{utilization: 0, score: 0}, "
                                    "{utilization: 100, score: 10}]"));
  const Pod pod = PodWithClaims("p", {"a"});
  CycleState state;
  PreFilterResult left_over;
  EXPECT_TRUE(plugin.PreFilter(state, pod, {}, left_over).IsSuccess());
  std::vector<std::int64_t> scores;
  for (const char* host : {"node-a", "node-b"}) {
    Node node = NodeWithLabels({{"host", host}});
    node.metadata.name = host;
    const NodeInfo info = NodeWithPods(std::move(node), {});
    EXPECT_TRUE(plugin.Filter(state, pod, info).IsSuccess());
    plugin.Score(state, pod, info, scores.emplace_back());
  }
  EXPECT_EQ(scores, (std::vector<std::int64_t>{25, 50}));
}

}  // namespace
}  // namespace minisched
