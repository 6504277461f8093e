#include "minisched/informer/shared_informer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "minisched/api/node.h"
#include "minisched/api/pod.h"
#include "minisched/informer/informer_testing.h"
#include "testing/embedded_server.h"

namespace minisched {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr char kTwoPods[] = R"(
{apiVersion: v1, kind: Pod, metadata: {name: a, labels: {app: web}},
 spec: {containers: [{name: c, image: i}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: b},
 spec: {containers: [{name: c, image: i}]}}
)";

std::string VersionOf(const std::shared_ptr<const Pod>& pod) {
  return pod->metadata.resource_version;
}

class SharedInformerTest : public testing::Test {
 protected:
  void Label(const std::string& pod, const std::string& app) {
    client_.Patch<Pod>("default", pod, PatchType::kMerge,
                       R"({"metadata":{"labels":{"app":")" + app + R"("}}})");
  }
  void SetPhase(const std::string& pod, const std::string& phase) {
    client_.Patch<Pod>("default", pod, PatchType::kMerge,
                       R"({"status":{"phase":")" + phase + R"("}})", "status");
  }
  void Delete(const std::string& pod) {
    client_.Delete<Pod>("default", pod, {.grace_period_seconds = 0});
  }

  const EmbeddedServer server_{kTwoPods};
  Client client_{server_.config()};
  Log log_;
};

// Removes the resource versions from lines of a Log: these tests compare names.
std::vector<std::string> WithoutVersions(std::vector<std::string> lines) {
  for (std::string& line : lines) line.erase(line.find('@'));
  return lines;
}

TEST_F(SharedInformerTest, CallsTheHandlerForAllChanges) {
  SharedInformer<Pod> pods(client_);
  const auto registration = pods.AddEventHandler(log_.Handler<Pod>());
  EXPECT_FALSE(registration.WaitForSync(Stopped()));
  pods.Start({});
  ASSERT_TRUE(pods.WaitForCacheSync({}));
  ASSERT_TRUE(registration.WaitForSync({}));
  EXPECT_THAT(WithoutVersions(log_.lines()),
              ElementsAre("+add default/a", "+add default/b"));
  EXPECT_EQ(pods.store().Get("default", "a")->metadata.labels.at("app"), "web");

  Label("a", "db");
  Delete("b");
  client_.Create(FromJson<Pod>(
      R"({"metadata":{"namespace":"default","name":"b"},
          "spec":{"containers":[{"name":"c","image":"i"}]}})"));
  // A pod gets a deletion timestamp before it is deleted.
  EXPECT_THAT(
      WithoutVersions(log_.Await(6)),
      ElementsAre("+add default/a", "+add default/b", "update default/a",
                  "update default/b", "delete default/b", "add default/b"));
}

TEST_F(SharedInformerTest, DeletesObjectsThatNoLongerMatchTheSelector) {
  SetPhase("b", "Failed");
  SharedInformer<Pod> pods(client_, {.field_selector = "status.phase!=Failed"});
  pods.AddEventHandler(log_.Handler<Pod>());
  pods.Start({});
  ASSERT_TRUE(pods.WaitForCacheSync({}));
  SetPhase("b", "Running");
  SetPhase("a", "Failed");
  EXPECT_THAT(
      WithoutVersions(log_.Await(3)),
      ElementsAre("+add default/a", "add default/b", "delete default/a"));
}

TEST_F(SharedInformerTest, CallsALateHandlerForAllObjects) {
  SharedInformer<Pod> pods(client_);
  pods.Start({});
  ASSERT_TRUE(pods.WaitForCacheSync({}));
  const auto registration = pods.AddEventHandler(log_.Handler<Pod>());
  ASSERT_TRUE(registration.WaitForSync({}));
  Label("b", "web");
  EXPECT_THAT(
      WithoutVersions(log_.Await(3)),
      ElementsAre("+add default/a", "+add default/b", "update default/b"));
}

TEST_F(SharedInformerTest, SkipsFunctionsThatAreLeftOut) {
  SharedInformer<Pod> pods(client_);
  pods.AddEventHandler({});
  pods.AddEventHandler(
      {.on_delete = [this](const auto& pod) { log_.Add(pod->metadata.name); }});
  pods.Start({});
  ASSERT_TRUE(pods.WaitForCacheSync({}));
  Label("b", "web");
  Delete("b");
  EXPECT_THAT(log_.Await(1), ElementsAre("b"));
}

TEST_F(SharedInformerTest, ASlowHandlerDoesNotDelayOthers) {
  std::promise<void> release;
  SharedInformer<Pod> pods(client_);
  const auto slow = pods.AddEventHandler(
      {.on_add = [&, released = release.get_future().share()](
                     const auto&, bool) { released.wait(); }});
  const auto fast = pods.AddEventHandler(log_.Handler<Pod>());
  pods.Start({});
  ASSERT_TRUE(fast.WaitForSync({}));
  Label("a", "db");
  EXPECT_EQ(log_.Await(3).size(), 3);
  EXPECT_FALSE(slow.WaitForSync(Stopped()));
  release.set_value();
  EXPECT_TRUE(slow.WaitForSync({}));
}

TEST_F(SharedInformerTest, CallsAHandlerAgainAfterAnException) {
  SharedInformer<Pod> pods(client_);
  const auto registration =
      pods.AddEventHandler({.on_add = [this](const auto& pod, bool) {
        log_.Add(pod->metadata.name);
        if (pod->metadata.name == "a") throw std::runtime_error("a bug");
        throw 0;
      }});
  pods.Start({});
  ASSERT_TRUE(registration.WaitForSync({}));
  EXPECT_THAT(log_.lines(), ElementsAre("a", "b"));
}

TEST_F(SharedInformerTest, AHandlerMayAddAHandler) {
  SharedInformer<Pod> pods(client_);
  std::optional<HandlerRegistration> second;
  const auto first =
      pods.AddEventHandler({.on_add = [&](const auto& pod, bool) {
        if (pod->metadata.name == "a") {
          second = pods.AddEventHandler(log_.Handler<Pod>());
        }
      }});
  pods.Start({});
  ASSERT_TRUE(first.WaitForSync({}));
  ASSERT_TRUE(second->WaitForSync({}));
  EXPECT_THAT(WithoutVersions(log_.lines()),
              ElementsAre("+add default/a", "+add default/b"));
}

TEST_F(SharedInformerTest, StartsInformersOfSeveralKindsThroughTheBase) {
  SharedInformer<Pod> pods(client_);
  SharedInformer<Node> nodes(client_);
  const std::vector<SharedInformerBase*> informers{&pods, &nodes};
  for (SharedInformerBase* informer : informers) informer->Start({});
  for (const SharedInformerBase* informer : informers) {
    ASSERT_TRUE(informer->WaitForCacheSync({}));
  }
  EXPECT_EQ(pods.store().List().size(), 2);
  EXPECT_THAT(nodes.store().List(), IsEmpty());
}

TEST_F(SharedInformerTest, StopEndsTheWaits) {
  SharedInformer<Pod> pods(client_);  // never started
  const auto registration = pods.AddEventHandler({});
  std::stop_source stop;
  std::jthread stopper([&stop] { stop.request_stop(); });
  EXPECT_FALSE(pods.WaitForCacheSync(stop.get_token()));
  EXPECT_FALSE(registration.WaitForSync(stop.get_token()));
}

// The next tests wait for the threads of the informer and of its handlers to
// end. After that no handler can be called.

TEST_F(SharedInformerTest, CallsNoHandlerOnceStopped) {
  Label("a", "db");  // starts the client's threads
  const std::size_t threads = CountThreads();
  SharedInformer<Pod> pods(client_);
  std::promise<void> called;
  std::promise<void> release;
  std::stop_source stop;
  pods.AddEventHandler({.on_add = [&](const auto& pod, bool) {
    log_.Add(pod->metadata.name);
    called.set_value();
    release.get_future().wait();
  }});
  pods.Start(stop.get_token());
  ASSERT_TRUE(pods.WaitForCacheSync({}));
  called.get_future().wait();
  stop.request_stop();
  release.set_value();
  EXPECT_TRUE(AwaitThreads(threads));
  EXPECT_THAT(log_.lines(), ElementsAre("a"));
}

TEST_F(SharedInformerTest, NeverCallsAHandlerAddedAfterTheStop) {
  Label("a", "db");
  const std::size_t threads = CountThreads();
  SharedInformer<Pod> pods(client_);
  std::stop_source stop;
  pods.Start(stop.get_token());
  ASSERT_TRUE(pods.WaitForCacheSync({}));
  stop.request_stop();
  // A single wrong call might be dropped before its thread makes it, so the
  // test adds many handlers.
  for (int i = 0; i < 100; ++i) pods.AddEventHandler(log_.Handler<Pod>());
  const auto last = pods.AddEventHandler({});
  EXPECT_TRUE(AwaitThreads(threads));
  EXPECT_THAT(log_.lines(), IsEmpty());
  EXPECT_FALSE(last.WaitForSync(Stopped()));
}

// Thousands of events, with fast and slow handlers.
TEST(ManyEventsTest, EveryHandlerGetsEveryEventInOrder) {
  constexpr int kUpdates = 3000;
  constexpr std::chrono::microseconds kSlow{100};
  ScriptedApi api;
  Client client(api.config());
  SharedInformer<Pod> pods(client);
  std::vector<std::vector<std::string>> seen(3);
  std::vector<std::promise<void>> done(3);
  for (int i = 0; i < 3; ++i) {
    pods.AddEventHandler(
        {.on_add = [&seen, i](const auto& pod,
                              bool) { seen[i].push_back(VersionOf(pod)); },
         .on_update =
             [&seen, i, kSlow](const auto& old, const auto& now) {
               // No gap: each update starts at the previous version.
               EXPECT_EQ(seen[i].back(), VersionOf(old));
               seen[i].push_back(VersionOf(now));
               if (i == 0) std::this_thread::sleep_for(kSlow);
             },
         .on_delete = [&done, i](const auto&) { done[i].set_value(); }});
  }
  pods.Start({});
  api.Take().reply.Send(200, ListJson(1, {PodJson("a", 1)}));
  ServerReply watch = api.Take().reply;
  watch.Start();
  for (int i = 0; i < kUpdates; ++i) {
    watch.Chunk(EventJson("MODIFIED", PodJson("a", 2 + i)));
  }
  watch.Chunk(EventJson("DELETED", PodJson("a", 2 + kUpdates)));
  for (auto& promise : done) promise.get_future().wait();
  EXPECT_EQ(seen[0].size(), kUpdates + 1);
  EXPECT_EQ(seen[1], seen[0]);
  EXPECT_EQ(seen[2], seen[0]);
}

}  // namespace
}  // namespace minisched
