#include "minisched/api/event.h"

#include <gtest/gtest.h>

#include "minisched/api/json.h"
#include "minisched/api/pod.h"

namespace minisched {
namespace {

constexpr char kEvent[] =
    R"({"action":"Binding","apiVersion":"events.k8s.io/v1",)"
    R"("eventTime":"2026-11-21T10:00:00.000001Z","kind":"Event",)"
    R"("metadata":{"name":"web-0.1","namespace":"shop"},"note":"n",)"
    R"("reason":"Scheduled","regarding":{"apiVersion":"v1","kind":"Pod",)"
    R"("name":"web-0","namespace":"shop","uid":"u"},)"
    R"("related":{"kind":"Node","name":"node-1"},)"
    R"("reportingController":"minisched","reportingInstance":"minisched-h",)"
    R"("series":{"count":2,"lastObservedTime":"2026-11-21T10:00:01.000000Z"},)"
    R"("type":"Normal"})";

TEST(EventTest, ReadsAndWritesAllFields) {
  const auto event = FromJson<Event>(kEvent);
  EXPECT_EQ(event.regarding.uid, "u");
  EXPECT_EQ(event.related->name, "node-1");
  EXPECT_EQ(event.event_time->time, ParseTime("2026-11-21T10:00:00.000001Z"));
  EXPECT_EQ(event.series->count, 2);
  EXPECT_EQ(ToJson(event), kEvent);
}

TEST(EventTest, GetReferenceNamesAnObject) {
  Pod pod;
  pod.metadata.namespace_name = "shop";
  pod.metadata.name = "web-0";
  pod.metadata.uid = "u";
  const ObjectReference reference = GetReference(pod);
  EXPECT_EQ(reference, (ObjectReference{"v1", "Pod", "shop", "web-0", "u"}));
}

}  // namespace
}  // namespace minisched
