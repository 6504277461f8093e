#include "plugins/default_binder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include "plugins/registry.h"
#include "testing/embedded_server.h"
#include "testing/scripted_api.h"
#include "tests/handle_testing.h"
#include "tests/running_scheduler_testing.h"
#include "tests/status_testing.h"

namespace minisched {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Binds pods to node-1. With cases of TestDefaultBinder of upstream's
// test/integration/scheduler/bind.
class DefaultBinderTest : public ::testing::Test {
 protected:
  // Begins a Binding of the pod, and returns its future status.
  static std::future<std::string> Begin(Client& client, const Pod& pod,
                                        const std::stop_token& stop = {}) {
    const Snapshot snapshot;
    const DefaultBinder binder(NewHandle(snapshot, {.client = client}));
    CycleState state;
    auto result = std::make_shared<std::promise<std::string>>();
    binder.Bind(state, pod, "node-1", stop, [result](const Status& status) {
      result->set_value(Describe(status));
    });
    return result->get_future();
  }
  static std::string Await(std::future<std::string> status) {
    return status.wait_for(std::chrono::seconds(20)) ==
                   std::future_status::ready
               ? status.get()
               : "no response";
  }
  std::string Bind(const Pod& pod) { return Await(Begin(client_, pod)); }

  // Returns the pod that the server has.
  Pod Web() { return *client_.Get<Pod>("default", "web-0"); }

  EmbeddedServer server_{NodeYaml("node-1") + PodYaml("web-0")};
  Client client_{server_.config()};
};

TEST_F(DefaultBinderTest, BindsThePodToTheNode) {
  EXPECT_EQ(Bind(Web()), "Success");
  EXPECT_EQ(Web().spec.node_name, "node-1");
}

TEST_F(DefaultBinderTest, DoesNotBindAnotherPodOfTheSameName) {
  Pod old = Web();
  old.metadata.uid = "old";
  EXPECT_THAT(Bind(old), AllOf(StartsWith("Error: "),
                               HasSubstr("Precondition failed: UID in "
                                         "precondition: old, ")));
  EXPECT_EQ(Web().spec.node_name, "");
}

TEST_F(DefaultBinderTest, DoesNotBindABoundPod) {
  const Pod pod = Web();
  Bind(pod);
  EXPECT_THAT(Bind(pod),
              AllOf(StartsWith("Error: "),
                    HasSubstr("pod web-0 is already assigned to node "
                              "\"node-1\"")));
}

TEST_F(DefaultBinderTest, DoesNotBindADeletedPod) {
  const Pod pod = Web();
  client_.Delete<Pod>("default", "web-0", {.grace_period_seconds = 0});
  EXPECT_EQ(Bind(pod), "Error: pods \"web-0\" not found");
}

TEST_F(DefaultBinderTest, AnImpossibleNameIsAnError) {
  Pod pod = Web();
  pod.metadata.name = "a%2fb";
  EXPECT_THAT(Bind(pod), StartsWith("Error: invalid resource name \"a%2fb\""));
}

TEST_F(DefaultBinderTest, TheStopTokenCancelsTheBinding) {
  const Pod pod = Web();
  ScriptedApi api;
  Client client(api.config());
  std::stop_source stop;
  auto status = Begin(client, pod, stop.get_token());
  const auto binding = api.Take();  // never answered
  stop.request_stop();
  EXPECT_EQ(Await(std::move(status)), "Error: cancelled");
}

TEST_F(DefaultBinderTest, IsADefaultPlugin) {
  const Snapshot snapshot;
  Framework framework;
  AddDefaultPlugins(framework, NewHandle(snapshot, {.client = client_}));
  CycleState state;
  const Pod pod = Web();
  const std::string node = "node-1";
  std::promise<std::string> result;
  framework.RunBindPlugins(state, pod, node, {})
      .Start([&](const Status& status) { result.set_value(Describe(status)); });
  EXPECT_EQ(Await(result.get_future()), "Success by DefaultBinder");
  EXPECT_EQ(Web().spec.node_name, "node-1");
}

}  // namespace
}  // namespace minisched
