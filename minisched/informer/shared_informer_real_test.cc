// Tests the informer against a real API server.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "minisched/api/pod.h"
#include "minisched/client/client.h"
#include "minisched/informer/informer_testing.h"
#include "minisched/informer/shared_informer.h"
#include "testing/real_cluster.h"

namespace minisched {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

class SharedInformerRealTest : public RealClusterTest {
 protected:
  void Create(Client& client, const std::string& name) {
    Pod pod;
    pod.metadata.namespace_name = namespace_name();
    pod.metadata.name = name;
    pod.spec.scheduler_name = "none";
    pod.spec.containers.push_back({.name = "c", .image = "i"});
    client.Create(pod);
  }

  std::string Line(const std::string& what, const std::string& name) {
    return what + " " + namespace_name() + "/" + name + "@";
  }
};

TEST_F(SharedInformerRealTest, ListsAndWatches) {
  Client client(admin());
  Create(client, "a");
  SharedInformer<Pod> pods(
      client,
      {.field_selector = "metadata.namespace=" + namespace_name() +
                         ",status.phase!=Succeeded,status.phase!=Failed"});
  Log log;
  const auto registration = pods.AddEventHandler(log.Handler<Pod>());
  pods.Start({});
  ASSERT_TRUE(registration.WaitForSync({}));
  EXPECT_THAT(log.lines(), ElementsAre(StartsWith(Line("+add", "a"))));

  Create(client, "b");
  client.Patch<Pod>(namespace_name(), "b", PatchType::kMerge,
                    R"({"status":{"phase":"Failed"}})", "status");
  EXPECT_THAT(log.Await(3), ElementsAre(StartsWith(Line("+add", "a")),
                                        StartsWith(Line("add", "b")),
                                        StartsWith(Line("delete", "b"))));

  client.Delete<Pod>(namespace_name(), "a", {.grace_period_seconds = 0});
  // The pod gets a deletion timestamp before it is deleted.
  EXPECT_THAT(log.Await(5), Contains(StartsWith(Line("delete", "a"))));
  EXPECT_THAT(pods.store().List(), IsEmpty());
}

}  // namespace
}  // namespace minisched
