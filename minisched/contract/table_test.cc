// Tables: what kubectl prints is made by the server.

#include "minisched/contract/contract_testing.h"

namespace minisched {
namespace {

using testing::HasSubstr;

constexpr char kTable[] =
    "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

class TableTest : public ContractTest {
 protected:
  Reply GetTable(const std::string& path) {
    return Get(path, {{"Accept", kTable}});
  }

  // "Name, Age | IP": those after the bar are for -o wide. Types are given
  // where they aren't strings.
  std::string Columns(const std::string& path) {
    const Reply table = GetTable(path);
    EXPECT_THAT(table, Answers(200, R"({
      "kind": "Table", "apiVersion": "meta.k8s.io/v1"})"_json))
        << path;
    std::string columns;
    int priority = 0;
    for (const json& column : table.body.at("columnDefinitions")) {
      if (!columns.empty()) {
        columns += column.at("priority") == priority ? ", " : " | ";
      }
      priority = column.at("priority");
      columns += column.at("name");
      if (column.at("type") != "string") {
        columns += ":" + column.at("type").get<std::string>();
      }
    }
    return columns;
  }

  // The cells of the only row.
  json Cells(const std::string& path) {
    const json rows = GetTable(path).body.at("rows");
    EXPECT_EQ(rows.size(), 1);
    return rows.at(0).at("cells");
  }
};

TEST_F(TableTest, Shape) {
  Create("pods", Pod("a"));
  const Reply table = GetTable("pods");
  EXPECT_EQ(table.headers.at("content-type"), "application/json");
  EXPECT_THAT(table, Answers(200, R"({
    "kind": "Table", "apiVersion": "meta.k8s.io/v1",
    "metadata": {"resourceVersion": "...", "continue": null},
    "rows": [{"cells": ["a", "0/1", "Pending", "0", "...", "<none>", "<none>",
                        "<none>", "<none>"],
              "object": {"kind": "PartialObjectMetadata",
                         "apiVersion": "meta.k8s.io/v1",
                         "metadata": {"name": "a", "uid": "..."},
                         "spec": null}}]})"_json));
  EXPECT_THAT(table.body.at("columnDefinitions").at(0), JsonHas(R"({
    "name": "Name", "type": "string", "format": "name", "priority": 0,
    "description": "..."})"_json));
}

TEST_F(TableTest, OneObject) {
  const json pod = Create("pods", Pod("a"));
  const Reply table = GetTable("pods/a");
  EXPECT_THAT(table,
              Answers(200, {{"kind", "Table"},
                            {"metadata", {{"resourceVersion", Version(pod)}}},
                            {"columnDefinitions", "..."}}));
  EXPECT_EQ(table.body.at("rows").size(), 1);
  EXPECT_THAT(GetTable("pods/none"),
              Refuses(404, "NotFound", "pods \"none\" not found"));
}

TEST_F(TableTest, Empty) {
  const Reply table = GetTable("pods");
  EXPECT_THAT(table, Answers(200, R"({"kind": "Table", "rows": []})"_json));
  EXPECT_EQ(table.body.at("columnDefinitions").size(), 9);
}

TEST_F(TableTest, Pages) {
  Create("pods", Pod("a"));
  Create("pods", Pod("b"));
  EXPECT_THAT(GetTable("pods?limit=1"), Answers(200, R"({
    "metadata": {"continue": "...", "remainingItemCount": 1},
    "rows": [{"object": {"metadata": {"name": "a"}}}]})"_json));
}

TEST_F(TableTest, IncludeObject) {
  Create("pods", Pod("a"));
  EXPECT_THAT(GetTable("pods?includeObject=None"),
              Answers(200, R"({"rows": [{"object": null}]})"_json));
  EXPECT_THAT(GetTable("pods?includeObject=Metadata"), Answers(200, R"({
    "rows": [{"object": {"kind": "PartialObjectMetadata"}}]})"_json));
  EXPECT_THAT(GetTable("pods?includeObject=Object"), Answers(200, R"({
    "rows": [{"object": {"kind": "Pod", "apiVersion": "v1",
                         "spec": {"schedulerName": "contract"}}}]})"_json));
  EXPECT_THAT(GetTable("pods?includeObject=Bad"),
              Refuses(400, "BadRequest",
                      "Unable to convert to Table as requested: includeObject: "
                      "Invalid value: \"Bad\": must be 'Metadata', 'Object', "
                      "'None', or empty"));
}

TEST_F(TableTest, OfWhatIsCreatedAndDeleted) {
  const Reply table =
      Send("POST", "configmaps", Named("a").dump(), {{"Accept", kTable}});
  EXPECT_THAT(table, Answers(201, R"({
    "kind": "Table", "rows": [{"cells": ["a", 0, "..."]}]})"_json));
  EXPECT_THAT(Send("DELETE", "configmaps/a", "", {{"Accept", kTable}}),
              Answers(200, R"({"kind": "Status", "status": "Success"})"_json));
}

TEST_F(TableTest, OtherTypes) {
  Create("pods", Pod("a"));
  const auto accepting = [&](const std::string& as) {
    return Get("pods", {{"Accept", "application/json;g=meta.k8s.io;" + as}});
  };
  EXPECT_THAT(accepting("v=v1;as=Table"),
              Answers(200, R"({"kind": "Table"})"_json));
  EXPECT_THAT(accepting("v=v9;as=Table"),
              Refuses(406, "NotAcceptable",
                      HasSubstr("only the following media types are accepted: "
                                "application/json")));
  // The next in the list will do.
  EXPECT_THAT(accepting("v=v1;as=Nope,application/json"),
              Answers(200, R"({"kind": "PodList"})"_json));
}

TEST_F(TableTest, MetadataOnly) {
  Create("pods", Pod("a"));
  const auto accept = [](const std::string& kind) -> Headers {
    return {{"Accept", "application/json;as=" + kind +
                           ";v=v1;g=meta.k8s.io,application/json"}};
  };
  EXPECT_THAT(Get("pods", accept("PartialObjectMetadataList")),
              Answers(200, R"({
                "kind": "PartialObjectMetadataList",
                "apiVersion": "meta.k8s.io/v1",
                "metadata": {"resourceVersion": "..."},
                "items": [{"kind": "PartialObjectMetadata",
                           "metadata": {"name": "a", "uid": "..."},
                           "spec": null, "status": null}]})"_json));
  EXPECT_THAT(Get("pods/a", accept("PartialObjectMetadata")), Answers(200, R"({
                "kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1",
                "metadata": {"name": "a"}, "spec": null})"_json));
  EXPECT_THAT(Get("pods", accept("PartialObjectMetadata")),
              Refuses(406, "NotAcceptable",
                      HasSubstr("you requested PartialObjectMetadata, but the "
                                "requested object is a list")));
}

TEST_F(TableTest, PodCells) {
  Create("pods", Pod("a", R"({"spec": {"nodeName": "contract-n"}})"_json));
  const auto status = [&](const char* value) {
    EXPECT_THAT(
        StrategicPatch("pods/a/status", {{"status", json::parse(value)}}),
        Answers(200));
    return Cells("pods/a");
  };
  EXPECT_THAT(status(R"({"phase": "Running", "podIPs": [{"ip": "10.0.0.1"}],
                 "conditions": [{"type": "Ready", "status": "True"}],
                 "containerStatuses": [{"name": "c", "ready": true,
                   "restartCount": 2, "image": "i", "imageID": "",
                   "state": {"running": {}}}]})"),
              JsonHas({"a", "1/1", "Running", "2", "...", "10.0.0.1",
                       "contract-n", "<none>", "<none>"}));
  EXPECT_EQ(status(R"({"phase": "Succeeded", "containerStatuses": [
                {"name": "c", "ready": false, "state": {"running": null,
                 "terminated": {"exitCode": 0, "reason": "Completed"}}}]})")
                .at(2),
            "Completed");
  EXPECT_EQ(status(R"({"phase": "Failed", "reason": "Evicted",
                       "containerStatuses": null})")
                .at(2),
            "Evicted");
}

TEST_F(TableTest, PodCellsOnItsWay) {
  Create("pods", Pod("gated", R"({"spec": {"schedulingGates":
                                           [{"name": "g"}]}})"_json));
  EXPECT_EQ(Cells("pods/gated").at(2), "SchedulingGated");
  Create("pods", Pod("going", R"({"spec": {"nodeName": "contract-n"}})"_json));
  Delete("pods/going");
  EXPECT_EQ(Cells("pods/going").at(2), "Terminating");
}

TEST_F(TableTest, NodeCells) {
  const std::string name = Unique("node");
  Create("nodes", Named(name, R"({"metadata": {"labels":
      {"node-role.kubernetes.io/worker": ""}},
    "spec": {"unschedulable": true}})"_json));
  DeleteLater("nodes/" + name);
  const json cells = Cells("nodes/" + name);
  EXPECT_EQ(cells.at(0), name);
  EXPECT_THAT(cells.at(1).get<std::string>(), HasSubstr(",SchedulingDisabled"));
  EXPECT_EQ(cells.at(2), "worker");
}

TEST_F(TableTest, CellsOfOtherKinds) {
  Create("leases", Named("l", R"({"spec": {"holderIdentity": "me"}})"_json));
  EXPECT_THAT(Cells("leases"), JsonHas({"l", "me", "..."}));
  Create("poddisruptionbudgets",
         Named("b", R"({"spec": {"maxUnavailable": "50%"}})"_json));
  EXPECT_THAT(Cells("poddisruptionbudgets"),
              JsonHas({"b", "N/A", "50%", 0, "..."}));
  EXPECT_THAT(Cells("priorityclasses/system-node-critical"),
              JsonHas({"system-node-critical", 2000001000, false, "...",
                       "PreemptLowerPriority"}));
  EXPECT_THAT(Cells("namespaces/" + namespace_name()),
              JsonHas({namespace_name(), "Active", "..."}));
  Create("configmaps", Named("a", R"({"data": {"k": "v", "l": "w"}})"_json));
  EXPECT_THAT(Cells("configmaps/a"), JsonHas({"a", 2, "..."}));
  json event = Named("e", R"({"reason": "R", "message": "m", "type": "Normal",
    "involvedObject": {"kind": "Pod", "name": "p"}, "count": 2,
    "source": {"component": "c", "host": "h"}})"_json);
  event["involvedObject"]["namespace"] = namespace_name();
  Create("events", event);
  EXPECT_THAT(Cells("events/e"), JsonHas({"...", "Normal", "R", "pod/p", "",
                                          "c, h", "m", "...", 2, "e"}));
  Create("deployments", Named("d", R"({"spec": {
    "selector": {"matchLabels": {"a": "b"}}, "replicas": 0,
    "template": {"metadata": {"labels": {"a": "b"}}, "spec":
                 {"containers": [{"name": "c", "image": "i"}]}}}})"_json));
  EXPECT_THAT(Cells("deployments"),
              JsonHas({"d", "0/0", 0, 0, "...", "c", "i", "a=b"}));
}

TEST_F(TableTest, Columns) {
  const std::string node_columns =
      "Name, Status, Roles, Age, Version | Internal-IP, External-IP, "
      "OS-Image, Kernel-Version, Container-Runtime";
  const std::string replicas =
      "Name, Desired:integer, Current:integer, Ready:integer, Age | "
      "Containers, Images, Selector";
  for (const auto& [path, columns] : std::map<std::string, std::string>{
           {"configmaps", "Name, Data, Age"},
           {"csidrivers",
            "Name, AttachRequired:boolean, PodInfoOnMount:boolean, "
            "StorageCapacity:boolean, TokenRequests, "
            "RequiresRepublish:boolean, Modes, Age"},
           {"csinodes", "Name, Drivers:integer, Age"},
           {"csistoragecapacities", "Name, Created At:date"},
           {"daemonsets",
            "Name, Desired:integer, Current:integer, Ready:integer, "
            "Up-to-date:integer, Available:integer, Node Selector, Age | "
            "Containers, Images, Selector"},
           {"deployments",
            "Name, Ready, Up-to-date, Available, Age | Containers, Images, "
            "Selector"},
           {"deviceclasses", "Name, Age"},
           {"events",
            "Last Seen, Type, Reason, Object | Subobject, Source | Message | "
            "First Seen, Count, Name"},
           {"leases", "Name, Holder, Age"},
           {"namespaces", "Name, Status, Age"},
           {"nodes", node_columns},
           {"persistentvolumeclaims",
            "Name, Status, Volume, Capacity, Access Modes, StorageClass, "
            "VolumeAttributesClass, Age | VolumeMode"},
           {"persistentvolumes",
            "Name, Capacity, Access Modes, Reclaim Policy, Status, Claim, "
            "StorageClass, VolumeAttributesClass, Reason, Age | VolumeMode"},
           {"poddisruptionbudgets",
            "Name, Min Available, Max Unavailable, Allowed "
            "Disruptions:integer, Age"},
           {"pods",
            "Name, Ready, Status, Restarts, Age | IP, Node, Nominated Node, "
            "Readiness Gates"},
           {"priorityclasses",
            "Name, Value:integer, Global-Default:boolean, Age, "
            "PreemptionPolicy"},
           {"replicasets", replicas},
           {"replicationcontrollers", replicas},
           {"resourceclaims", "Name, State, Age"},
           {"resourceslices", "Name, Node, Driver, Pool, Age"},
           {"serviceaccounts", "Name, Age"},
           {"services",
            "Name, Type, Cluster-IP, External-IP, Port(s), Age | Selector"},
           {"statefulsets", "Name, Ready, Age | Containers, Images"},
           {"storageclasses",
            "Name, Provisioner, ReclaimPolicy, VolumeBindingMode, "
            "AllowVolumeExpansion, Age"},
           {"volumeattachments",
            "Name, Attacher, PV, Node, Attached:boolean, Age"}}) {
    EXPECT_EQ(Columns(path), columns) << path;
  }
}

}  // namespace
}  // namespace minisched
