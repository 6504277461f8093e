#include "lab/live/collector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "minisched/api/node.h"
#include "minisched/api/pod.h"
#include "minisched/base/fake_clock.h"
#include "testing/embedded_server.h"

namespace minisched::live {
namespace {

using Json = nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class CollectorTest : public ::testing::Test {
 protected:
  // Returns all items that the history keeps.
  Json Items() const {
    Json items = Json::array();
    std::uint64_t position = history_.GetBase().end;
    while (true) {
      const auto part = history_.From(position, 1 << 20);
      if (!part || part->json.empty()) return items;
      position = part->end;
      for (Json& item : Json::parse(part->json)) items.push_back(item);
    }
  }
  std::string Text() const { return Items().dump(); }

  // Collects, with a page, until an item has this text.
  void CollectUntil(const std::string& text) {
    for (int i = 0; i < 20'000; ++i) {
      collector_.Collect(1);
      if (Text().find(text) != std::string::npos) return;
      clock_.Advance(milliseconds(20));
      std::this_thread::sleep_for(milliseconds(1));
    }
    FAIL() << text << " is not in " << Text();
  }

  // Pushes the record of a move.
  void Move(const std::string& uid, const std::string& place) {
    const Time now = clock_.WallNow();
    const Json record = {
        {"time", FormatMicroTime(now)},
        {"pod", {{"name", "shop/" + uid}, {"uid", uid}, {"place", place}}}};
    collector_.Push(
        {.key = uid + "/pod",
         .json = record.dump(),
         .remains = place == "gone" ? Remains::kNothing : Remains::kItem,
         .time = now});
  }
  std::vector<std::string> Places(const std::string& uid) const {
    std::vector<std::string> places;
    for (const Json& item : Items()) {
      if (item.contains("pod") && item["pod"]["uid"] == uid) {
        places.push_back(item["pod"]["place"]);
      }
    }
    return places;
  }
  // Returns the number of rows of the node.
  int Rows(const std::string& node) const {
    int rows = 0;
    for (const Json& item : Items()) {
      rows += item.contains("cluster") && item["cluster"].contains("node") &&
              item["cluster"]["node"]["name"] == node;
    }
    return rows;
  }
  void PatchNode(const std::string& patch) {
    client_.Patch<Node>("", "node-1", PatchType::kMerge, patch);
  }

  FakeClock clock_;
  EmbeddedServer server_{R"(
apiVersion: v1
kind: Node
metadata: {name: node-1}
---
apiVersion: v1
kind: Pod
metadata: {name: old, namespace: default}
spec: {containers: [{name: c, image: i}]}
)"};
  Client client_{server_.config(), clock_};
  History history_;
  Collector collector_{client_, history_};
};

TEST_F(CollectorTest, DoesNothingWithoutAPage) {
  EXPECT_FALSE(collector_.Collect(0));
  EXPECT_EQ(history_.end(), 0U);
}

TEST_F(CollectorTest, CollectsItemsAndAllRows) {
  EXPECT_TRUE(collector_.Collect(1));
  Move("web", "active");
  Move("web", "in flight");
  collector_.Collect(1);
  EXPECT_THAT(Places("web"), ElementsAre("active", "in flight"));
  CollectUntil(R"("name":"old")");
  CollectUntil(R"("name":"node-1")");
  Move("web", "bound");
  collector_.Collect(1);
  EXPECT_THAT(Places("web"), ElementsAre("active", "in flight", "bound"));
}

TEST_F(CollectorTest, ReportsPodsThatWereDeletedBeforeTheFirstPage) {
  const std::string old = client_.Get<Pod>("default", "old")->metadata.uid;
  Move("deleted-before", "bound");
  Move("gone-before", "gone");
  Move(old, "bound");
  clock_.Advance(seconds(1));
  collector_.Collect(1);
  clock_.Advance(seconds(1));
  Move("not-in-the-store-yet", "active");
  CollectUntil(R"("deleted":true)");
  std::vector<Json> deletions;
  for (const Json& item : Items()) {
    const Json row = item.value("/cluster/pod"_json_pointer, Json());
    if (row.contains("deleted")) deletions.push_back(row);
  }
  EXPECT_THAT(deletions, ElementsAre(Json{{"uid", "deleted-before"},
                                          {"namespace", "shop"},
                                          {"name", "deleted-before"},
                                          {"deleted", true}}));
}

TEST_F(CollectorTest, StopsAMinuteAfterTheLastPage) {
  collector_.Collect(1);
  clock_.Advance(seconds(100));
  EXPECT_TRUE(collector_.Collect(1));
  clock_.Advance(seconds(59));
  EXPECT_TRUE(collector_.Collect(0));
  clock_.Advance(seconds(1));
  EXPECT_FALSE(collector_.Collect(0));
  EXPECT_EQ(Items().size(), 0U);
  EXPECT_FALSE(collector_.Collect(0));
  // It starts again with the next page.
  EXPECT_TRUE(collector_.Collect(1));
  CollectUntil(R"("name":"node-1")");
}

TEST_F(CollectorTest, APageThatComesBackFindsWhatItMissed) {
  collector_.Collect(1);
  const std::uint64_t position = history_.end();
  clock_.Advance(seconds(59));
  Move("web", "active");
  EXPECT_TRUE(collector_.Collect(0));
  clock_.Advance(milliseconds(500));
  EXPECT_TRUE(collector_.Collect(1));
  EXPECT_THAT(history_.From(position, 1 << 20)->json,
              HasSubstr(R"("place":"active")"));
  clock_.Advance(seconds(59));
  EXPECT_TRUE(collector_.Collect(0));
}

TEST_F(CollectorTest, AddsARowOnlyIfItLooksDifferent) {
  CollectUntil(R"("name":"node-1")");
  PatchNode(R"({"metadata":{"annotations":{"a":"b"}}})");
  PatchNode(R"({"spec":{"unschedulable":true}})");
  CollectUntil(R"("cordoned":true)");
  EXPECT_EQ(Rows("node-1"), 2);
}

TEST_F(CollectorTest, AddsDeletions) {
  CollectUntil(R"("name":"node-1")");
  client_.Delete<Node>("", "node-1");
  CollectUntil(R"("deleted":true)");
}

TEST_F(CollectorTest, OfTooManyItemsOnlyTheLastOfEachPodIsKept) {
  collector_.Collect(1);
  for (int i = 0; i < 1'000; ++i) {
    for (const char* uid : {"a", "b", "c"}) {
      Move(uid, i == 999 ? "bound" : "active");
    }
  }
  collector_.Collect(1);
  for (const char* uid : {"a", "b", "c"}) {
    EXPECT_THAT(Places(uid), ElementsAre("bound"));
  }
  CollectUntil(R"("live":{"dropped":)");
  int dropped = 0;
  for (const Json& item : Items()) {
    if (item.contains("live")) dropped += item["live"].value("dropped", 0);
  }
  EXPECT_GE(dropped, 2'997);
  EXPECT_LT(dropped, 3'010);
}

TEST_F(CollectorTest, KeepsAllEarlierRecords) {
  collector_.Collect(1);
  for (int i = 0; i < 3'000; ++i) Move("web", "active");
  collector_.Collect(1, /*all=*/true);
  EXPECT_EQ(Places("web").size(), 3'000U);
}

TEST_F(CollectorTest, ReportsStatesThatChange) {
  collector_.Collect(1);
  collector_.SetState("every", "");
  collector_.SetState("every", "500ms");
  collector_.SetState("every", "500ms");
  collector_.Collect(1);
  int states = 0;
  for (const Json& item : Items()) {
    states += item.contains("/live/every"_json_pointer);
  }
  EXPECT_EQ(states, 1);
  EXPECT_THAT(Text(), HasSubstr(R"("live":{"every":"500ms"})"));
}

TEST_F(CollectorTest, RestartsWithNothingButRows) {
  CollectUntil(R"("name":"node-1")");
  Move("web", "active");
  collector_.Collect(1);
  collector_.Restart();
  EXPECT_EQ(Items().size(), 0U);
  CollectUntil(R"("name":"node-1")");
  EXPECT_THAT(Places("web"), ElementsAre());
}

TEST_F(CollectorTest, ReportsALostServer) {
  CollectUntil(R"("server":"connected")");
  server_.server().GoAway(std::chrono::minutes(10));
  CollectUntil(R"("server":"lost: )");
  history_.Clear();
  server_.server().GoAway(milliseconds(0));
  CollectUntil(R"("server":"connected")");
}

}  // namespace
}  // namespace minisched::live
