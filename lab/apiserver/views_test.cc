#include "lab/apiserver/views.h"

#include <gtest/gtest.h>

namespace minisched::apiserver {
namespace {

TEST(EventViewTest, ConvertsBothWays) {
  const Json core = Json::parse(R"({
      "apiVersion": "v1", "kind": "Event", "metadata": {"name": "e"},
      "involvedObject": {"kind": "Pod", "name": "web"},
      "reason": "Scheduled", "message": "done", "type": "Normal",
      "action": "Binding", "source": {"component": "scheduler"},
      "firstTimestamp": "2026-03-01T00:00:00Z", "lastTimestamp": null,
      "eventTime": null, "count": 2,
      "reportingComponent": "", "reportingInstance": ""})");
  const Json v1 = Json::parse(R"({
      "apiVersion": "events.k8s.io/v1", "kind": "Event",
      "metadata": {"name": "e"},
      "regarding": {"kind": "Pod", "name": "web"},
      "reason": "Scheduled", "note": "done", "type": "Normal",
      "action": "Binding", "deprecatedSource": {"component": "scheduler"},
      "deprecatedFirstTimestamp": "2026-03-01T00:00:00Z",
      "deprecatedLastTimestamp": null, "eventTime": null,
      "deprecatedCount": 2})");
  EXPECT_EQ(ToEventsV1(core), v1);
  EXPECT_EQ(FromEventsV1(v1), core);
  EXPECT_EQ(ToEventsV1(v1), v1);
  EXPECT_EQ(FromEventsV1(core), core);
}

TEST(EventViewTest, ConvertsTheReporter) {
  const Json core = {{"reportingComponent", "a"}, {"reportingInstance", "b"}};
  const Json v1 = ToEventsV1(core);
  EXPECT_EQ(Get(v1, "reportingController"), "a");
  EXPECT_EQ(Get(v1, "reportingInstance"), "b");
  EXPECT_EQ(Get(FromEventsV1(v1), "reportingComponent"), "a");
}

}  // namespace
}  // namespace minisched::apiserver
