#include "minisched/trace/tables.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "minisched/trace/trace_testing.h"

namespace minisched {
namespace {

using namespace std::chrono_literals;

const Rejection kName{"NodeName", {"wrong name"}};
const Rejection kPorts{"NodePorts", {"port in use"}};
const Rejection kFit{"NodeResourcesFit", {"too little cpu", "no memory"}};

Attempt AttemptOnThreeNodes() {
  return {.pod = "shop/web",
          .uid = "u1",
          .number = 2,
          .filters = {"NodeName", "NodePorts", "NodeResourcesFit"},
          .fits = {"node-22"},
          .rejected = {{.node = "node-1", .rejections = {kPorts}},
                       {.node = "node-3", .rejections = {kFit}}},
          .node = "node-22",
          .all_nodes = 3,
          .feasible_nodes = 1};
}

TEST(FormatAttemptTest, MarksTheFirstRejections) {
  EXPECT_EQ(
      FormatAttempt(AttemptOnThreeNodes()),
      "shop/web, attempt 2: 1 of 3 nodes feasible, selected node-22\n"
      "  NODE     NodeName  NodePorts  NodeResourcesFit\n"
      "  node-22  ✓         ✓          ✓                 ◀ selected\n"
      "  node-1   ✓         ✗          ·                 port in use\n"
      "  node-3   ✓         ✓          ✗                 too little cpu, no "
      "memory");
}

TEST(FormatAttemptTest, MarksTheLaterRejections) {
  Attempt attempt = AttemptOnThreeNodes();
  attempt.all_rejections = true;
  // A later rejection may come from an earlier filter plugin.
  attempt.fits = {};
  attempt.rejected = {{.node = "node-1", .rejections = {kPorts, kName}},
                      {.node = "node-22", .rejections = {kName, kFit}},
                      {.node = "node-3", .rejections = {kFit}}};
  attempt.node = "";
  attempt.failure = "0/3 nodes are available";
  EXPECT_EQ(
      FormatAttempt(attempt),
      "shop/web, attempt 2: 0/3 nodes are available\n"
      "  NODE     NodeName  NodePorts  NodeResourcesFit\n"
      "  node-1   (✗)       ✗          ✓                 port in use\n"
      "  node-22  ✗         ✓          (✗)               wrong name\n"
      "  node-3   ✓         ✓          ✗                 too little cpu, no "
      "memory");
}

TEST(FormatAttemptTest, ShowsScoresAndTotals) {
  Attempt attempt{
      .pod = "shop/web",
      .number = 1,
      .filters = {"NodeName"},
      .fits = {"b", "c"},
      .scores = {{"Fit", 1, {-5, 4}, {0, 51}}, {"Image", 2, {7, 9}, {70, 100}}},
      .rejected = {{.node = "a", .rejections = {kName}}},
      .node = "c",
      .all_nodes = 3,
      .feasible_nodes = 2};
  EXPECT_EQ(FormatAttempt(attempt),
            "shop/web, attempt 1: 2 of 3 nodes feasible, selected c\n"
            "  NODE  NodeName  Fit      Image      TOTAL\n"
            "  b     ✓         -5/0/0   7/70/140   140\n"
            "  c     ✓         4/51/51  9/100/200  251    ◀ selected\n"
            "  a     ✗         ·        ·          ·      wrong name");
}

TEST(FormatAttemptTest, CountsTheNodesThatAreNotShown) {
  Attempt attempt = AttemptOnThreeNodes();
  attempt.all_nodes = 1000;
  attempt.feasible_nodes = 900;
  attempt.reasons = {{"NodeName", "wrong name", 60},
                     {"NodePorts", "port in use", 40}};
  EXPECT_EQ(FormatAttempt(attempt, /*max_nodes=*/1),
            "shop/web, attempt 2: 900 of 1000 nodes feasible, selected "
            "node-22\n"
            "  NODE     NodeName  NodePorts  NodeResourcesFit\n"
            "  node-22  ✓         ✓          ✓                 ◀ selected\n"
            "  … and 999 more. Of all 1000: 900 feasible; 60 NodeName: wrong "
            "name; 40 NodePorts: port in use");
  EXPECT_TRUE(FormatAttempt(attempt, 0)
                  .starts_with("shop/web, attempt 2: 900 of 1000 nodes "
                               "feasible, selected node-22\n"
                               "  … and 1000 more."));
}

TEST(FormatAttemptTest, ShowsTheOtherExtensionPoints) {
  const Attempt attempt{
      .pod = "shop/web",
      .number = 1,
      .points = {{.point = "PreFilter", .plugin = "Fit", .status = "Skip"},
                 {.point = "PreScore", .plugin = "Fit", .status = "Success"},
                 {.point = "Bind",
                  .status = "Error",
                  .message = "conflict\nwith others"}},
      .failure = "conflict"};
  EXPECT_EQ(FormatAttempt(attempt),
            "shop/web, attempt 1: conflict\n"
            "  PreFilter: Fit Skip\n"
            "  Bind: Error (conflict\\nwith others)");
}

TEST(FormatAttemptTest, TextCannotBreakTheTable) {
  const std::string bad =
      "a\n\x1b[31m\x7f\xc2\x9b"
      "31m\xff";
  const Attempt attempt{
      .pod = bad,
      .filters = {"P"},
      .rejected = {{.node = bad, .rejections = {{"P", {bad, bad}}}}},
      .points = {{.point = "Bind", .message = bad}},
      .failure = bad,
      .all_nodes = 2,
      .reasons = {{"P", bad, 2}}};
  const std::string text = FormatAttempt(attempt);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4) << text;
  for (const char* control : {"\x1b", "\x7f", "\xc2\x9b", "\xff"}) {
    EXPECT_EQ(text.find(control), std::string::npos) << text;
  }
}

class FormatPlacesTest : public ::testing::Test {
 protected:
  void Add(PodRecord pod, Clock::Duration before_now) {
    pods_.push_back(std::make_shared<const Record>(Record{
        .sequence = pods_.size() + 1,
        .time =
            now_ - std::chrono::floor<std::chrono::microseconds>(before_now),
        .state = std::move(pod)}));
  }

  const Time now_ = ParseTime("2026-01-01T00:00:00Z");
  std::vector<RecordPtr> pods_;
};

TEST_F(FormatPlacesTest, ShowsPendingPodsByPlaceAndAge) {
  Add({.pod = "shop/c",
       .uid = "c",
       .place = Place::kUnschedulable,
       .move = {.event = "ScheduleAttemptFailure",
                .plugins = {"Fit", "Name"},
                .wakes = {"Node/Add", "Pod/Delete"},
                .attempts = 12},
       .until = now_ + 1500ms},
      2500ms);
  Add({.pod = "shop/d", .uid = "d", .place = Place::kActive}, 2s);
  Add({.pod = "shop/bound", .uid = "b", .place = Place::kBound}, 1s);
  Add({.pod = "shop/gone", .uid = "e", .place = Place::kGone}, 1s);
  Add({.pod = "shop/a",
       .uid = "a",
       .place = Place::kAssumed,
       .move = {.attempts = 1, .node = "node-1"}},
      123456us);
  EXPECT_EQ(
      FormatPlaces(pods_, now_),
      "\n  PLACE          POD     SINCE  UNTIL  ATTEMPTS  REASON"
      "\n  active         shop/d  2s     -      0"
      "\n  unschedulable  shop/c  2.5s   1.5s   12        "
      "ScheduleAttemptFailure, by Fit, Name, wakes on Node/Add, Pod/Delete"
      "\n  assumed        shop/a  123ms  -      1         on node-1");
}

TEST_F(FormatPlacesTest, ShowsActivePodsInTheOrderOfTheQueue) {
  for (const char* uid : {"a", "b", "c", "d", "e"}) {
    Add({.pod = uid, .uid = uid, .place = Place::kActive}, 1s);
  }
  Add({.pod = "f", .uid = "f", .place = Place::kInFlight}, 1s);
  Add({.pod = "g", .uid = "g", .place = Place::kInFlight}, 1s);
  // The order is of another moment: "g" was active, "gone" is unknown.
  EXPECT_EQ(FormatPlaces(pods_, now_, {"d", "gone", "g", "b", "e"}),
            "\n  PLACE      POD  SINCE  UNTIL  ATTEMPTS  REASON"
            "\n  active     d    1s     -      0"
            "\n  active     b    1s     -      0"
            "\n  active     e    1s     -      0"
            "\n  active     a    1s     -      0"
            "\n  active     c    1s     -      0"
            "\n  in flight  f    1s     -      0"
            "\n  in flight  g    1s     -      0");
}

TEST_F(FormatPlacesTest, ShowsNoneIfNoPodIsPending) {
  EXPECT_EQ(FormatPlaces({}, now_), "\n  none");
  Add({.pod = "shop/a", .uid = "a", .place = Place::kBound}, 1s);
  EXPECT_EQ(FormatPlaces(pods_, now_), "\n  none");
}

TEST_F(FormatPlacesTest, PodsWithTheSameNameAndDifferentUidsAreTwoRows) {
  Add({.pod = "shop/a", .uid = "old", .place = Place::kInFlight}, 2s);
  Add({.pod = "shop/a", .uid = "new", .place = Place::kActive}, 1s);
  EXPECT_EQ(FormatPlaces(pods_, now_),
            "\n  PLACE      POD     SINCE  UNTIL  ATTEMPTS  REASON"
            "\n  active     shop/a  1s     -      0"
            "\n  in flight  shop/a  2s     -      0");
}

TEST_F(FormatPlacesTest, TextCannotBreakTheTable) {
  Add({.pod = "a\nb",
       .uid = "a",
       .place = Place::kActive,
       .move = {.plugins = {"\x1b[31m"}, .wakes = {"\x7f"}, .node = "\xff"}},
      1s);
  EXPECT_EQ(FormatPlaces(pods_, now_),
            "\n  PLACE   POD   SINCE  UNTIL  ATTEMPTS  REASON"
            "\n  active  a\\nb  1s     -      0         by \\x1b[31m, wakes on "
            "\\x7f, on \\xff");
}

TEST(FormatMoveTest, ShowsAMoveAsALine) {
  const Time now = ParseTime("2026-01-01T00:00:00Z");
  PodRecord pod{.pod = "shop/web", .place = Place::kActive};
  EXPECT_EQ(FormatMove(pod, now), "shop/web → active");
  pod.move.event = "BackoffComplete";
  EXPECT_EQ(FormatMove(pod, now), "shop/web → active (BackoffComplete)");
  pod.until = now + 1s;
  pod.pod = "a\nb";
  EXPECT_EQ(FormatMove(pod, now),
            "a\\nb → active (BackoffComplete), until in 1s");
}

}  // namespace
}  // namespace minisched
