#include "lab/live/rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "minisched/api/json.h"

namespace minisched::live {
namespace {

using Json = nlohmann::json;

struct RowCase {
  const char* object;
  const char* row;
};

TEST(RowsTest, RowsOfNodes) {
  const RowCase cases[] = {
      {R"({"metadata": {"uid": "1", "name": "n", "labels": {"a": "b"}}})",
       R"({"uid": "1", "name": "n", "allocatable": {"cpu": 0, "memory": 0}})"},
      {R"({"metadata": {"uid": "1", "name": "n"},
           "spec": {"unschedulable": true, "taints": [
             {"key": "a", "value": "b", "effect": "NoSchedule"},
             {"key": "c", "effect": "NoExecute"}]},
           "status": {"allocatable": {
             "cpu": "1500m", "memory": "1Ki", "ephemeral-storage": "2",
             "pods": "110", "example.com/gpu": "4"}}})",
       R"({"uid": "1", "name": "n", "cordoned": true,
           "taints": [{"key": "a", "value": "b", "effect": "NoSchedule"},
                      {"key": "c", "effect": "NoExecute"}],
           "allocatable": {"cpu": 1500, "memory": 1024, "ephemeral-storage": 2,
                           "pods": 110, "example.com/gpu": 4}})"},
      {R"({"metadata": {"uid": "1", "name": "n"}, "status": {"allocatable": {
             "cpu": "0", "memory": "8Ei", "example.com/bytes": "20E"}}})",
       R"({"uid": "1", "name": "n", "allocatable": {
             "cpu": 0, "memory": 9223372036854775807,
             "example.com/bytes": 2e19}})"}};
  for (const auto& [object, row] : cases) {
    EXPECT_EQ(Json::parse(RowOf(FromJson<Node>(object))), Json::parse(row));
  }
}

TEST(RowsTest, RowsOfPods) {
  const RowCase cases[] = {
      {R"({"metadata": {"uid": "1", "namespace": "s", "name": "p"}})",
       R"({"uid": "1", "namespace": "s", "name": "p",
           "requests": {"cpu": 0, "memory": 0}})"},
      {R"({"metadata": {"uid": "1", "namespace": "s", "name": "p",
                        "creationTimestamp": "2025-12-31T00:00:00Z",
                        "deletionTimestamp": "2026-01-01T00:00:00Z",
                        "labels": {
             "pod-group.scheduling.sigs.k8s.io/name": "g",
             "pod-group.scheduling.sigs.k8s.io/min-available": "3"}},
           "spec": {"schedulerName": "mine", "nodeName": "n", "priority": -5,
                    "schedulingGates": [{"name": "g1"}, {"name": "g2"}],
                    "volumes": [
                      {"name": "a", "persistentVolumeClaim":
                                    {"claimName": "data"}},
                      {"name": "b", "ephemeral": {}},
                      {"name": "c", "emptyDir": {}}],
                    "initContainers": [
                      {"name": "i", "resources": {"requests": {"cpu": "2"}}}],
                    "containers": [
                      {"name": "a", "resources": {"requests": {
                         "cpu": "500m", "memory": "1Mi"}}},
                      {"name": "b", "resources": {"requests": {
                         "cpu": "250m", "example.com/gpu": "1"}}}]},
           "status": {"phase": "Running", "conditions": [
             {"type": "PodScheduled", "status": "True", "reason": "r"}]}})",
       R"({"uid": "1", "namespace": "s", "name": "p", "node": "n",
           "created": "2025-12-31T00:00:00Z", "phase": "Running",
           "scheduler": "mine", "priority": -5,
           "requests": {"cpu": 2000, "memory": 1048576, "example.com/gpu": 1},
           "gates": ["g1", "g2"], "claims": ["data", "p-b"], "group": "g", "minAvailable": 3,
           "terminating": true})"},
      {R"({"metadata": {"uid": "1", "namespace": "s", "name": "p", "labels": {
             "pod-group.scheduling.sigs.k8s.io/min-available": "x"}},
           "spec": {"priority": 0},
           "status": {"conditions": [
             {"type": "PodScheduled", "status": "False",
              "reason": "Unschedulable", "message": "0/1 nodes"}]}})",
       R"({"uid": "1", "namespace": "s", "name": "p", "priority": 0,
           "requests": {"cpu": 0, "memory": 0},
           "condition": {"reason": "Unschedulable", "message": "0/1 nodes"}})"}};
  for (const auto& [object, row] : cases) {
    EXPECT_EQ(Json::parse(RowOf(FromJson<Pod>(object))), Json::parse(row));
  }
}

TEST(RowsTest, ItemsHaveATimeAndAKey) {
  const Time time = ParseTime("2026-11-25T10:00:00.25Z");
  Pod pod;
  pod.metadata = {.name = "p", .namespace_name = "s", .uid = "1"};
  const Item row = RowItem(pod, time);
  EXPECT_EQ(row.key, "1/row");
  EXPECT_EQ(row.remains, Remains::kItem);
  EXPECT_EQ(Json::parse(row.json)["time"], "2026-11-25T10:00:00.250000Z");
  EXPECT_EQ(Json::parse(row.json)["cluster"]["pod"]["name"], "p");
  const Item deletion = DeletionItem(pod, time);
  EXPECT_EQ(deletion.key, "1/row");
  EXPECT_EQ(deletion.remains, Remains::kNoOwner);
  EXPECT_EQ(Json::parse(deletion.json)["cluster"]["pod"],
            Json::parse(R"({"uid": "1", "namespace": "s", "name": "p",
                            "deleted": true})"));
  Node node;
  node.metadata = {.name = "n", .uid = "2"};
  EXPECT_EQ(Json::parse(DeletionItem(node, time).json)["cluster"]["node"],
            Json::parse(R"({"uid": "2", "name": "n", "deleted": true})"));
}

// A page shows names and messages as text; a stream has events by lines.
TEST(RowsTest, MarkupAndControlCharactersStayData) {
  Pod pod;
  pod.metadata.name = "<script>alert(1)</script>\n\ndata: x\x1b\x80";
  pod.status.conditions.push_back({.type = "PodScheduled",
                                   .status = "False",
                                   .message = "<img src=x>\r\n"});
  const std::string row = RowOf(pod);
  EXPECT_EQ(row.find_first_of("\n\r\x1b\x80"), row.npos);
  EXPECT_EQ(Json::parse(row)["name"],
            "<script>alert(1)</script>\n\ndata: x\x1b\xef\xbf\xbd");
  EXPECT_EQ(Json::parse(row)["condition"]["message"], "<img src=x>\r\n");
}

}  // namespace
}  // namespace minisched::live
