#include "minisched/apiserver/controllers/event_recorder.h"

#include <gmock/gmock.h>

#include "minisched/apiserver/controllers/cluster_testing.h"

namespace minisched::apiserver {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class EventRecorderTest : public ::testing::Test {
 protected:
  TestCluster cluster_;
  EventRecorder recorder_{cluster_.registry, "a-controller"};
  Object object_ =
      cluster_.Create("configmaps", R"({"metadata": {"name": "a"}})");
};

TEST_F(EventRecorderTest, SaysWhatHappenedToWhat) {
  recorder_.Record(*object_, "Normal", "Done", "It is done");
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

TEST_F(EventRecorderTest, CountsWhatIsSaidAgain) {
  const std::string first = cluster_.registry.Now();
  recorder_.Record(*object_, "Normal", "Done", "It is done");
  recorder_.Record(*object_, "Normal", "Done", "It is done differently");
  cluster_.loop.Advance(std::chrono::minutes(1));
  recorder_.Record(*object_, "Normal", "Done", "It is done");
  const auto events = cluster_.All("events");
  ASSERT_THAT(events, SizeIs(2));
  EXPECT_EQ(events[0]["count"], 2);
  EXPECT_EQ(events[0]["firstTimestamp"], first);
  EXPECT_EQ(events[0]["lastTimestamp"], cluster_.registry.Now());
}

TEST_F(EventRecorderTest, CombinesWhatDiffersInItsMessageOnly) {
  for (int i = 1; i <= 20; ++i) {
    recorder_.Record(*object_, "Normal", "Done", std::to_string(i));
  }
  EXPECT_THAT(cluster_.Events("ConfigMap"), SizeIs(10));
  EXPECT_EQ(cluster_.Events("ConfigMap").back(),
            "Done: (combined from similar events): 20");
}

TEST_F(EventRecorderTest, AnEventThatWasDeletedIsMadeAnew) {
  recorder_.Record(*object_, "Normal", "Done", "It is done");
  cluster_.Delete("events", cluster_.Names("events")[0]);
  recorder_.Record(*object_, "Normal", "Done", "It is done");
  EXPECT_EQ(cluster_.All("events")[0]["count"], 1);
}

TEST_F(EventRecorderTest, AnEventThatCannotBeWrittenIsNoFailure) {
  Json elsewhere = *object_;
  elsewhere["metadata"]["namespace"] = "none";
  recorder_.Record(elsewhere, "Normal", "Done", "It is done");
  EXPECT_THAT(cluster_.Names("events"), IsEmpty());
}

}  // namespace
}  // namespace minisched::apiserver
