#include <gmock/gmock.h>

#include "lab/apiserver/controllers/cluster_testing.h"

namespace minisched::apiserver {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class GarbageCollectorTest : public ::testing::Test {
 protected:
  // Creates a ConfigMap that the ConfigMaps in `owners` own. `block` is the
  // blockOwnerDeletion of its ownerReferences.
  void Make(const std::string& name, const std::vector<std::string>& owners,
            bool block = true) {
    Json references = Json::array();
    for (const std::string& owner : owners) {
      references.push_back({{"apiVersion", "v1"},
                            {"kind", "ConfigMap"},
                            {"name", owner},
                            {"uid", UidOf(cluster_.Get("configmaps", owner))},
                            {"blockOwnerDeletion", block}});
    }
    MakeWith(name, std::move(references));
  }

  void MakeWith(const std::string& name, Json references) {
    cluster_.Create(
        "configmaps",
        {{"metadata",
          {{"name", name}, {"ownerReferences", std::move(references)}}}});
    cluster_.loop.Run();
  }

  void Delete(const std::string& name, const std::string& propagation = "") {
    cluster_.Delete("configmaps", name, {.propagation = propagation});
    cluster_.loop.Run();
  }

  // Returns the names of all ConfigMaps except kube-root-ca.crt.
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    for (const Json& object : cluster_.All("configmaps")) {
      if (NameOf(object) != "kube-root-ca.crt") names.push_back(NameOf(object));
    }
    return names;
  }

  Json OwnersOf(const std::string& name) {
    return Get(cluster_.Get("configmaps", name), "metadata", "ownerReferences");
  }

  TestCluster cluster_;
  std::unique_ptr<Controller> collector_ =
      NewGarbageCollector(cluster_.registry);
};

TEST_F(GarbageCollectorTest, DeletesDependentsOfDeletedOwners) {
  Make("a", {});
  Make("b", {"a"});
  Make("c", {"b"});
  Make("other", {});
  Delete("a");
  EXPECT_THAT(Names(), ElementsAre("other"));
}

TEST_F(GarbageCollectorTest, KeepsObjectsWithARemainingOwner) {
  Make("a", {});
  Make("b", {});
  Make("c", {"a", "b"});
  Delete("a");
  EXPECT_THAT(Names(), ElementsAre("b", "c"));
  EXPECT_THAT(OwnersOf("c"), SizeIs(1));
  Delete("b");
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(GarbageCollectorTest, AnOwnerWithAnotherUidCountsAsGone) {
  Make("a", {});
  MakeWith("namesake", {{{"apiVersion", "v1"},
                         {"kind", "ConfigMap"},
                         {"name", "a"},
                         {"uid", "not-that-of-a"}}});
  EXPECT_THAT(Names(), ElementsAre("a"));
}

TEST_F(GarbageCollectorTest, KeepsDependentsWhoseOwnerHasAnUnknownKind) {
  MakeWith("a", {{{"apiVersion", "example.com/v1"},
                  {"kind", "Foo"},
                  {"name", "foo"},
                  {"uid", "1"}}});
  EXPECT_THAT(Names(), ElementsAre("a"));
}

TEST_F(GarbageCollectorTest, KeepsClusterScopedDependentsOfNamespacedOwners) {
  Make("a", {});
  cluster_.Create("nodes",
                  {{"metadata",
                    {{"name", "n"},
                     {"ownerReferences",
                      {{{"apiVersion", "v1"},
                        {"kind", "ConfigMap"},
                        {"name", "a"},
                        {"uid", UidOf(cluster_.Get("configmaps", "a"))}}}}}}});
  cluster_.loop.Run();
  EXPECT_THAT(cluster_.Names("nodes"), ElementsAre("n"));
}

TEST_F(GarbageCollectorTest, ForegroundDeletionWaitsForDependents) {
  Make("a", {});
  Make("b", {"a"});
  Make("c", {"b"});
  cluster_.Patch("configmaps", "c",
                 {{"metadata", {{"finalizers", {"example.com/wait"}}}}});
  Make("loose", {"a"}, /*block=*/false);
  Delete("a", "Foreground");
  EXPECT_THAT(Names(), ElementsAre("a", "b", "c"));
  for (const char* name : {"a", "b", "c"}) {
    EXPECT_TRUE(IsTerminating(cluster_.Get("configmaps", name))) << name;
  }
  cluster_.Patch("configmaps", "c", {{"metadata", {{"finalizers", nullptr}}}});
  cluster_.loop.Run();
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(GarbageCollectorTest, DeletesTheLeaseOfADeletedNode) {
  const auto node = cluster_.Create("nodes", R"({"metadata": {"name": "n"}})");
  cluster_.Create("leases", {{"metadata",
                              {{"name", "n"},
                               {"namespace", "kube-node-lease"},
                               {"ownerReferences",
                                {{{"apiVersion", "v1"},
                                  {"kind", "Node"},
                                  {"name", "n"},
                                  {"uid", UidOf(*node)}}}}}}});
  cluster_.loop.Run();
  EXPECT_THAT(cluster_.Names("leases"), ElementsAre("n"));
  cluster_.Delete("nodes", "n");
  cluster_.loop.Run();
  EXPECT_THAT(cluster_.Names("leases"), IsEmpty());
}

TEST_F(GarbageCollectorTest, DeletesEventsAnHourAfterTheyLastOccurred) {
  const auto make = [&](const std::string& name) {
    cluster_.Create("events", {{"metadata", {{"name", name}}},
                               {"involvedObject", {{"namespace", "default"}}}});
  };
  make("old");
  make("repeated");
  cluster_.loop.Advance(std::chrono::minutes(30));
  cluster_.Patch("events", "repeated",
                 {{"lastTimestamp", cluster_.registry.Now()}});
  cluster_.loop.Advance(std::chrono::minutes(29));
  EXPECT_THAT(cluster_.Names("events"), Contains("old"));
  cluster_.loop.Advance(std::chrono::minutes(3));
  EXPECT_THAT(cluster_.Names("events"), Not(Contains("old")));
  EXPECT_THAT(cluster_.Names("events"), Contains("repeated"));
  cluster_.loop.Advance(std::chrono::minutes(30));
  EXPECT_THAT(cluster_.Names("events"), Not(Contains("repeated")));
}

}  // namespace
}  // namespace minisched::apiserver
