#include "minisched/informer/shared_informer_factory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <stdexcept>
#include <string>
#include <vector>

#include "minisched/api/node.h"
#include "minisched/api/pod.h"
#include "minisched/api/pod_disruption_budget.h"
#include "testing/embedded_server.h"

namespace minisched {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kManifest[] = R"(
{apiVersion: v1, kind: Node, metadata: {name: node-1}}
---
{apiVersion: v1, kind: Pod, metadata: {name: a},
 spec: {containers: [{name: c, image: i}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: b},
 spec: {containers: [{name: c, image: i}]}}
---
{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: web},
 spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}}
)";

class SharedInformerFactoryTest : public testing::Test {
 protected:
  template <class T>
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    for (const auto& object : informers_.Of<T>().store().List()) {
      names.push_back(object->metadata.name);
    }
    return names;
  }

  const EmbeddedServer server_{kManifest};
  Client client_{server_.config()};
  SharedInformerFactory informers_{client_};
};

TEST_F(SharedInformerFactoryTest, MakesOneInformerForEachKind) {
  SharedInformer<Pod>& pods = informers_.Of<Pod>();
  SharedInformer<Node>& nodes = informers_.Of<Node>();
  EXPECT_EQ(&informers_.Of<Pod>(), &pods);
  EXPECT_EQ(&informers_.Of<Node>(), &nodes);
}

TEST_F(SharedInformerFactoryTest, StartsAndAwaitsAllInformers) {
  informers_.Of<Pod>();
  informers_.Of<Node>();
  informers_.Of<PodDisruptionBudget>();
  informers_.Start({});
  ASSERT_TRUE(informers_.WaitForCacheSync({}));
  EXPECT_THAT(Names<Pod>(), ElementsAre("a", "b"));
  EXPECT_THAT(Names<Node>(), ElementsAre("node-1"));
  EXPECT_THAT(Names<PodDisruptionBudget>(), ElementsAre("web"));
}

TEST_F(SharedInformerFactoryTest, StartsInformersThatWereMadeLater) {
  informers_.Of<Pod>();
  informers_.Start({});
  informers_.Of<Node>();
  informers_.Start({});
  ASSERT_TRUE(informers_.WaitForCacheSync({}));
  EXPECT_THAT(Names<Node>(), ElementsAre("node-1"));
}

TEST_F(SharedInformerFactoryTest, AddSelectsObjects) {
  informers_.Add<Pod>({.field_selector = "metadata.name=a"});
  informers_.Start({});
  ASSERT_TRUE(informers_.WaitForCacheSync({}));
  EXPECT_THAT(Names<Pod>(), ElementsAre("a"));
}

// From the list, and from the watch.
TEST_F(SharedInformerFactoryTest, AddCanKeepTheJson) {
  informers_.Add<Pod>({.keep_json = true});
  informers_.Of<Node>();
  informers_.Start({});
  ASSERT_TRUE(informers_.WaitForCacheSync({}));
  const auto json_of = [&] {
    return *informers_.Of<Pod>().store().Get("default", "a")->whole_json;
  };
  EXPECT_THAT(json_of(), HasSubstr(R"("dnsPolicy":"ClusterFirst")"));
  EXPECT_FALSE(informers_.Of<Node>().store().Get("", "node-1")->whole_json);
  std::promise<void> changed;
  const auto registration = informers_.Of<Pod>().AddEventHandler(
      {.on_update = [&](const auto&, const auto&) { changed.set_value(); }});
  client_.Patch<Pod>("default", "a", PatchType::kMerge,
                     R"({"metadata":{"labels":{"colour":"red"}}})");
  ASSERT_EQ(changed.get_future().wait_for(std::chrono::seconds(20)),
            std::future_status::ready);
  EXPECT_THAT(json_of(), HasSubstr(R"("labels":{"colour":"red"})"));
  informers_.Shutdown();
}

TEST_F(SharedInformerFactoryTest, AddThrowsIfThereIsAnInformerAlready) {
  informers_.Of<Pod>();
  EXPECT_THROW(informers_.Add<Pod>({}), std::logic_error);
}

TEST_F(SharedInformerFactoryTest, WaitForCacheSyncEndsWhenAskedToStop) {
  informers_.Of<Pod>();
  std::stop_source stop;
  stop.request_stop();
  informers_.Start(stop.get_token());
  EXPECT_FALSE(informers_.WaitForCacheSync(stop.get_token()));
}

TEST_F(SharedInformerFactoryTest, CallsNoHandlerAfterShutdown) {
  int calls = 0;  // unguarded: Shutdown() ends the handler's thread
  const auto registration = informers_.Of<Pod>().AddEventHandler(
      {.on_add = [&](const auto&, bool) { ++calls; }});
  informers_.Start({});
  ASSERT_TRUE(registration.WaitForSync({}));
  informers_.Shutdown();
  EXPECT_EQ(calls, 2);
  client_.Delete<Pod>("default", "a", {.grace_period_seconds = 0});
  EXPECT_THAT(Names<Pod>(), ElementsAre("a", "b"));
}

}  // namespace
}  // namespace minisched
