#include "lab/apiserver/controllers/controller.h"

#include <gmock/gmock.h>

#include <stdexcept>

#include "lab/apiserver/controllers/cluster_testing.h"

namespace minisched::apiserver {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const ResourceRow& ConfigMaps() { return GetResource("", "configmaps"); }
ObjectKey ConfigMapKey(const std::string& name) {
  return {&ConfigMaps(), "default", name};
}

// A controller that records the calls of Sync(). Sync() throws if `fails`.
class RecordingController : public Controller {
 public:
  explicit RecordingController(Registry& registry)
      : Controller(registry, "a-controller") {
    Watch("configmaps", [this](const Event& e) {
      if (NamespaceOf(*e.object) == "default") Enqueue(*e.object);
    });
  }
  void Sync(const ObjectKey& key) override {
    synced.push_back(key.name);
    if (fails) throw std::runtime_error("no");
  }
  using Controller::Enqueue;
  using Controller::kMoment;
  using Controller::Record;

  std::vector<std::string> synced;
  bool fails = false;
};

class ControllerTest : public ::testing::Test {
 protected:
  ControllerTest() {
    cluster_.loop.Run();
    controller_.synced.clear();
  }

  TestCluster cluster_;
  RecordingController controller_{cluster_.registry};
};

TEST_F(ControllerTest, SyncsOnceForSeveralChanges) {
  cluster_.Create("configmaps", R"({"metadata": {"name": "b"}})");
  cluster_.Create("configmaps", R"({"metadata": {"name": "a"}})");
  cluster_.Patch("configmaps", "b", {{"data", {{"x", "1"}}}});
  EXPECT_THAT(controller_.synced, IsEmpty());
  cluster_.loop.Run();
  EXPECT_THAT(controller_.synced, ElementsAre("b", "a"));
}

TEST_F(ControllerTest, SyncsTheExistingObjectsAtTheStart) {
  cluster_.Create("configmaps", R"({"metadata": {"name": "a"}})");
  RecordingController late(cluster_.registry);
  cluster_.loop.Run();
  EXPECT_THAT(late.synced, ElementsAre("a", "kube-root-ca.crt"));
}

TEST_F(ControllerTest, RetriesAFailedSyncAfterASecond) {
  controller_.fails = true;
  controller_.Enqueue(ConfigMapKey("a"));
  cluster_.loop.Advance(milliseconds(999));
  EXPECT_THAT(controller_.synced, SizeIs(1));
  cluster_.loop.Advance(milliseconds(1));
  EXPECT_THAT(controller_.synced, SizeIs(2));

  controller_.fails = false;
  cluster_.loop.Advance(std::chrono::hours(1));
  EXPECT_THAT(controller_.synced, SizeIs(3));
}

TEST_F(ControllerTest, ADelayCombinesSeveralChanges) {
  for (int i = 0; i < 5; ++i) {
    controller_.Enqueue(ConfigMapKey("a"), RecordingController::kMoment);
    cluster_.loop.Advance(milliseconds(9));
  }
  EXPECT_THAT(controller_.synced, IsEmpty());
  cluster_.loop.Advance(milliseconds(500));
  EXPECT_THAT(controller_.synced, ElementsAre("a"));
}

class ControllerEventTest : public ControllerTest {
 protected:
  Object object_ =
      cluster_.Create("configmaps", R"({"metadata": {"name": "a"}})");
};

TEST_F(ControllerEventTest, EventsNameTheObjectAndTheComponent) {
  controller_.Record(*object_, "Normal", "Done", "It is done");
  const auto events = cluster_.All("events");
  ASSERT_THAT(events, SizeIs(1));
  Json event = events[0];
  EXPECT_EQ(
      event["involvedObject"],
      Json({{"apiVersion", "v1"},
            {"kind", "ConfigMap"},
            {"namespace", "default"},
            {"name", "a"},
            {"uid", UidOf(*object_)},
            {"resourceVersion", (*object_)["metadata"]["resourceVersion"]}}));
  EXPECT_EQ(event["source"], Json({{"component", "a-controller"}}));
  EXPECT_EQ(event["reportingComponent"], "a-controller");
  EXPECT_EQ(event["count"], 1);
  EXPECT_THAT(NameOf(event), ::testing::MatchesRegex("a\\.[0-9a-f]{16}"));
}

TEST_F(ControllerEventTest, EqualEventsAreCounted) {
  const std::string first = cluster_.registry.Now();
  controller_.Record(*object_, "Normal", "Done", "It is done");
  controller_.Record(*object_, "Normal", "Done", "It is done differently");
  cluster_.loop.Advance(std::chrono::minutes(1));
  controller_.Record(*object_, "Normal", "Done", "It is done");
  const auto events = cluster_.All("events");
  ASSERT_THAT(events, SizeIs(2));
  EXPECT_EQ(events[0]["count"], 2);
  EXPECT_EQ(events[0]["firstTimestamp"], first);
  EXPECT_EQ(events[0]["lastTimestamp"], cluster_.registry.Now());
}

TEST_F(ControllerEventTest, ADeletedEventIsCreatedAgain) {
  controller_.Record(*object_, "Normal", "Done", "It is done");
  cluster_.Delete("events", cluster_.Names("events")[0]);
  controller_.Record(*object_, "Normal", "Done", "It is done");
  EXPECT_EQ(cluster_.All("events")[0]["count"], 1);
}

TEST_F(ControllerEventTest, AnEventThatCannotBeWrittenIsDropped) {
  Json elsewhere = *object_;
  elsewhere["metadata"]["namespace"] = "none";
  controller_.Record(elsewhere, "Normal", "Done", "It is done");
  EXPECT_THAT(cluster_.Names("events"), IsEmpty());
}

TEST(IndexTest, FollowsChangesOfTheCollection) {
  TestCluster cluster;
  cluster.Create("configmaps",
                 R"({"metadata": {"name": "a", "labels": {"k": "1"}}})");
  const Index index(cluster.store, "configmaps", [](const Json& object) {
    return std::vector{GetString(object, "metadata", "labels", "k")};
  });
  const auto names = [&](const std::string& value) {
    std::vector<std::string> found;
    for (const Object& object : index[value]) found.push_back(NameOf(*object));
    return found;
  };
  EXPECT_THAT(names("1"), ElementsAre("a"));
  cluster.Patch("configmaps", "a", {{"metadata", {{"labels", {{"k", "2"}}}}}});
  EXPECT_THAT(names("1"), IsEmpty());
  EXPECT_THAT(names("2"), ElementsAre("a"));
  cluster.Delete("configmaps", "a");
  EXPECT_THAT(names("2"), IsEmpty());
}

}  // namespace
}  // namespace minisched::apiserver
