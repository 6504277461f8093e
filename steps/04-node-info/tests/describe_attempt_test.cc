// Tests whole scheduling cycles by the attempts that the scheduler records in
// the trace.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "minisched/api/json.h"
#include "minisched/base/fake_clock.h"
#include "scheduler.h"
#include "testing/scripted_cluster.h"
#include "tests/default_framework_testing.h"
#include "tests/default_plugins_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;

// The status of a node that has room for pods, and no other resources.
constexpr char kRoomyNode[] = R"("status":{"allocatable":{"pods":"110"}})";

// Returns a node or a pod. `rest` has its other members, in JSON.
template <class T>
T NewObject(const std::string& name, const std::string& rest) {
  T object = FromJson<T>("{" + rest + "}");
  object.metadata.namespace_name = T::kResource.namespaced ? "default" : "";
  object.metadata.name = name;
  object.metadata.uid = name;
  object.metadata.resource_version = "1";
  return object;
}

// Returns a text for each node: "node-1 fits", or the rejections.
std::vector<std::string> Verdicts(const Attempt& attempt) {
  std::vector<std::string> texts;
  for (const auto& name : attempt.fits) texts.push_back(name + " fits");
  for (const auto& [name, rejections] : attempt.rejected) {
    std::string& text = texts.emplace_back(name);
    for (const auto& [plugin, reasons] : rejections) {
      text += fmt::format("; {}: {}", plugin, fmt::join(reasons, ", "));
    }
  }
  return texts;
}

std::vector<std::string> Points(const Attempt& attempt) {
  std::vector<std::string> texts;
  for (const PointResult& point : attempt.points) {
    texts.push_back(
        fmt::format("{} {}: {}", point.point, point.plugin, point.status));
    if (!point.message.empty()) texts.back() += ", " + point.message;
  }
  return texts;
}

// Returns the plugins that have a result at the extension point.
std::vector<std::string> PluginsAt(const std::string& point,
                                   const Attempt& attempt) {
  std::vector<std::string> plugins;
  for (const PointResult& result : attempt.points) {
    if (result.point == point) plugins.push_back(result.plugin);
  }
  return plugins;
}

// A scheduler with the pod web-0. Its clock stands still.
class DescribeAttemptTest : public ::testing::Test {
 protected:
  void AddNode(const std::string& name, const std::string& rest = kRoomyNode) {
    cluster_.Add(NewObject<Node>(name, rest));
  }

  // Adds the pod, starts the scheduler and returns its first attempt.
  Attempt Try(const std::string& spec,
              AttemptDetail detail = AttemptDetail::kFirstRejections) {
    Pod pod = NewObject<Pod>("web-0", R"("spec":)" + spec);
    pod.spec.scheduler_name = "minisched";
    cluster_.Add(pod);
    TraceReader reader(trace_, detail);
    client_ = std::make_unique<Client>(cluster_.config());
    scheduler_ = std::make_unique<Scheduler>(
        AppContext{*client_, "minisched", trace_, {}}, SchedulerOptions{},
        clock_);
    thread_ = std::jthread(
        [this](const std::stop_token& stop) { scheduler_->Run(stop); });
    while (true) {
      for (const RecordPtr& record : reader.Next({})) {
        const auto* attempt = std::get_if<Attempt>(&record->state);
        if (attempt != nullptr) return *attempt;
      }
    }
  }

  FakeClock clock_;
  ScriptedCluster cluster_{clock_};

 private:
  Trace trace_{"minisched", clock_};
  std::unique_ptr<Client> client_;
  std::unique_ptr<Scheduler> scheduler_;
  std::jthread thread_;  // last: it uses the other members
};

// Returns the spec of a pod with required node affinity for one node.
std::string NamesNode(const std::string& node) {
  return fmt::format(R"({{"affinity":{{"nodeAffinity":{{
      "requiredDuringSchedulingIgnoredDuringExecution":{{
          "nodeSelectorTerms":[{{"matchFields":[
              {{"key":"metadata.name","operator":"In",
                "values":["{}"]}}]}}]}}}}}}}})",
                     node);
}

TEST_F(DescribeAttemptTest, APodThatNamesANodeIsBoundThere) {
  for (const char* name : {"node-1", "node-2", "node-3"}) AddNode(name);
  const Attempt attempt = Try(NamesNode("node-2"));
  EXPECT_EQ(attempt.node, "node-2");
  ScriptedApi::Exchange binding = cluster_.TakeBinding();
  EXPECT_EQ(FromJson<Binding>(binding.request.body).target.name, "node-2");
  binding.reply.Send(201, R"({"kind":"Status"})");  // lets the scheduler stop
  EXPECT_THAT(
      Verdicts(attempt),
      ElementsAre("node-2 fits",
                  "node-1; : node(s) didn't satisfy plugin(s) [NodeAffinity]",
                  "node-3; : node(s) didn't satisfy plugin(s) [NodeAffinity]"));
}

TEST_F(DescribeAttemptTest, ThePodsMessageCountsTheNodesThatPreFilterExcludes) {
  AddNode("node-1");
  AddNode("node-2", "");
  AddNode("node-3");
  const std::string message =
      "0/3 nodes are available: 1 Too many pods, 2 node(s) didn't satisfy "
      "plugin(s) [NodeAffinity].";
  EXPECT_EQ(Try(NamesNode("node-2")).failure, message);
  const auto writes = cluster_.AwaitWrites(2);
  for (const ServerRequest& write : writes) {
    EXPECT_THAT(write.body, HasSubstr(message));
  }
}

TEST_F(DescribeAttemptTest, RejectsAPodThatNamesAnUnknownNode) {
  AddNode("node-1");
  AddNode("node-2");
  const Attempt attempt = Try(NamesNode("node-9"));
  EXPECT_EQ(attempt.failure,
            "0/2 nodes are available: 2 node(s) didn't satisfy plugin(s) "
            "[NodeAffinity].");
  EXPECT_EQ(attempt.node, "");
}

TEST_F(DescribeAttemptTest, ListsThePluginsAndTheirPreFilterResults) {
  AddNode("node-1");
  const Attempt attempt = Try(R"({"nodeSelector":{"disk":"ssd"}})");
  const Framework framework = NewDefaultFramework();
  EXPECT_THAT(attempt.filters,
              ElementsAreArray(NamesOf(framework.filter_plugins())));
  EXPECT_THAT(PluginsAt("PreFilter", attempt),
              ElementsAreArray(NamesOf(framework.pre_filter_plugins())));
  EXPECT_THAT(Points(attempt),
              IsSupersetOf({"PreFilter Unsupported: Success",
                            "PreFilter NodeAffinity: Success",
                            "PreFilter NodePorts: Skip",
                            "PreFilter NodeResourcesFit: Success"}));
}

TEST_F(DescribeAttemptTest, ThePointsEndAtThePluginThatRejectsThePod) {
  AddNode("node-1");
  const Attempt attempt = Try(R"({"resourceClaims":[{"name":"gpu"}]})");
  EXPECT_EQ(attempt.failure,
            "0/1 nodes are available: not supported by this scheduler: "
            "resource claims.");
  EXPECT_THAT(Points(attempt),
              ElementsAre("PreFilter Unsupported: "
                          "UnschedulableAndUnresolvable, not supported by "
                          "this scheduler: resource claims"));
  EXPECT_THAT(Verdicts(attempt), IsEmpty());
}

constexpr char kCordonedTaintedFullNode[] = R"("spec":{
    "unschedulable":true,"taints":[{"key":"a","effect":"NoSchedule"}]})";

TEST_F(DescribeAttemptTest, ListsTheFirstRejectionToEachNode) {
  AddNode("node-1", kCordonedTaintedFullNode);
  const Attempt attempt = Try("{}");
  EXPECT_FALSE(attempt.all_rejections);
  EXPECT_THAT(
      Verdicts(attempt),
      ElementsAre("node-1; NodeUnschedulable: node(s) were unschedulable"));
}

// NodeAffinity and NodePorts are skipped: without the data from their
// PreFilter, their Filter would throw.
TEST_F(DescribeAttemptTest, ListsAllRejectionsExceptOfSkippedPlugins) {
  AddNode("node-1", kCordonedTaintedFullNode);
  const Attempt attempt = Try("{}", AttemptDetail::kAllRejections);
  EXPECT_TRUE(attempt.all_rejections);
  EXPECT_THAT(Verdicts(attempt),
              ElementsAre("node-1; NodeUnschedulable: node(s) were "
                          "unschedulable; TaintToleration: node(s) had "
                          "untolerated taint(s); NodeResourcesFit: Too many "
                          "pods"));
}

TEST_F(DescribeAttemptTest, FilterDoesNotRunForNodesThatPreFilterExcludes) {
  AddNode("node-1", kCordonedTaintedFullNode);
  const Attempt attempt =
      Try(NamesNode("node-9"), AttemptDetail::kAllRejections);
  EXPECT_THAT(
      Verdicts(attempt),
      ElementsAre("node-1; : node(s) didn't satisfy plugin(s) [NodeAffinity]"));
}

}  // namespace
}  // namespace minisched
