// Tables: the server returns the rows and columns that kubectl prints.

#include "lab/contract/contract_testing.h"

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

  // Returns the columns as "Name, Age" or, if `wide`, with the columns of -o
  // wide: "Name, Age | IP". A bar marks a change of the columns' priority. A
  // type other than string follows the name and a colon.
  std::string Columns(const std::string& path, bool wide = false) {
    const Reply table = GetTable(path);
    EXPECT_THAT(table, Answers(200, R"({
      "kind": "Table", "apiVersion": "meta.k8s.io/v1"})"_json))
        << path;
    std::string columns;
    int priority = 0;
    for (const json& column : table.body.at("columnDefinitions")) {
      if (!wide && column.at("priority") != 0) continue;
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

  // Returns the cells of the only row.
  json Cells(const std::string& path) {
    const json rows = GetTable(path).body.at("rows");
    EXPECT_EQ(rows.size(), 1);
    return rows.at(0).at("cells");
  }
};

TEST_F(TableTest, TablesHaveColumnsAndRows) {
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

TEST_F(TableTest, ReturnsATableOfOneObject) {
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

TEST_F(TableTest, AnEmptyTableHasColumns) {
  const Reply table = GetTable("pods");
  EXPECT_THAT(table, Answers(200, R"({"kind": "Table", "rows": []})"_json));
  EXPECT_EQ(table.body.at("columnDefinitions").size(), 9);
}

TEST_F(TableTest, SplitsTablesIntoPages) {
  Create("pods", Pod("a"));
  Create("pods", Pod("b"));
  EXPECT_THAT(GetTable("pods?limit=1"), Answers(200, R"({
    "metadata": {"continue": "...", "remainingItemCount": 1},
    "rows": [{"object": {"metadata": {"name": "a"}}}]})"_json));
}

TEST_F(TableTest, IncludeObjectSelectsTheReturnedPartOfTheObject) {
  Create("pods", Pod("a"));
  EXPECT_THAT(GetTable("pods?includeObject=None"),
              Answers(200, R"({"rows": [{"object": null}]})"_json));
  EXPECT_THAT(GetTable("pods?includeObject=Metadata"), Answers(200, R"({
    "rows": [{"object": {"kind": "PartialObjectMetadata"}}]})"_json));
  EXPECT_THAT(GetTable("pods?includeObject=Object"), Answers(200, R"({
    "rows": [{"object": {"kind": "Pod", "apiVersion": "v1",
                         "spec": {"schedulerName": "contract"}}}]})"_json));
}

TEST_F(TableTest, CreateReturnsATableAndDeleteAStatus) {
  const Reply table =
      Send("POST", "leases", Named("a").dump(), {{"Accept", kTable}});
  EXPECT_THAT(table, Answers(201, R"({
    "kind": "Table", "rows": [{"cells": ["a", "", "..."]}]})"_json));
  EXPECT_THAT(Send("DELETE", "leases/a", "", {{"Accept", kTable}}),
              Answers(200, R"({"kind": "Status", "status": "Success"})"_json));
}

TEST_F(TableTest, NegotiatesOtherTypes) {
  Create("pods", Pod("a"));
  const auto accepting = [&](const std::string& as) {
    return Get("pods", {{"Accept", "application/json;g=meta.k8s.io;" + as}});
  };
  EXPECT_THAT(accepting("v=v1;as=Table"),
              Answers(200, R"({"kind": "Table"})"_json));
  EXPECT_THAT(accepting("v=v9;as=Table"),
              Refuses(406, "NotAcceptable", HasSubstr("application/json")));
  // The server uses the next type in the list.
  EXPECT_THAT(accepting("v=v1;as=Nope,application/json"),
              Answers(200, R"({"kind": "PodList"})"_json));
}

TEST_F(TableTest, ShowsTheStatusOfAPod) {
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

TEST_F(TableTest, ShowsGatedAndTerminatingPods) {
  Create("pods", Pod("gated", R"({"spec": {"schedulingGates":
                                           [{"name": "g"}]}})"_json));
  EXPECT_EQ(Cells("pods/gated").at(2), "SchedulingGated");
  Create("pods", Pod("going", R"({"spec": {"nodeName": "contract-n"}})"_json));
  Delete("pods/going");
  EXPECT_EQ(Cells("pods/going").at(2), "Terminating");
}

TEST_F(TableTest, ShowsTheStatusAndRolesOfANode) {
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

TEST_F(TableTest, ShowsCellsOfOtherKinds) {
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
  Create("serviceaccounts", Named("a"));
  EXPECT_THAT(Cells("serviceaccounts/a"), JsonHas({"a", "..."}));
  Create("deployments", Named("d", R"({"spec": {
    "selector": {"matchLabels": {"a": "b"}}, "replicas": 0,
    "template": {"metadata": {"labels": {"a": "b"}}, "spec":
                 {"containers": [{"name": "c", "image": "i"}]}}}})"_json));
  json cells = Cells("deployments");
  cells.erase(cells.begin() + 5, cells.end());  // the columns of -o wide
  EXPECT_THAT(cells, JsonHas({"d", "0/0", 0, 0, "..."}));
}

TEST_F(TableTest, ShowsCellsOfStoredKinds) {
  // Creates an object "o" and expects its cells. The table may have more
  // columns, for -o wide.
  const auto expect = [&](const std::string& resource, const char* object,
                          json cells) {
    Create(resource, Named("o", json::parse(object)));
    json shown = Cells(resource + "?fieldSelector=metadata.name=o");
    shown.erase(shown.begin() + std::min(shown.size(), cells.size()),
                shown.end());
    EXPECT_THAT(shown, JsonHas(cells)) << resource;
  };
  expect("endpoints", R"({"subsets": [
      {"addresses": [{"ip": "10.0.0.1"}, {"ip": "fd00::1"}],
       "ports": [{"name": "a", "port": 80}, {"name": "b", "port": 81}]}]})",
         {"o", "10.0.0.1:80,[fd00::1]:80,10.0.0.1:81 + 1 more...", "..."});
  expect("secrets", R"({"stringData": {"a": "x"}, "data": {"b": "eA=="}})",
         {"o", "Opaque", 2, "..."});
  expect("services", R"({"spec": {"ports": [{"port": 80}]}})",
         {"o", "ClusterIP", "...", "<none>", "80/TCP", "..."});
  expect("statefulsets", R"({"spec": {
      "serviceName": "s", "replicas": 0, "selector": {"matchLabels": {"a": "b"}},
      "template": {"metadata": {"labels": {"a": "b"}},
                   "spec": {"containers": [{"name": "c", "image": "i"}]}}}})",
         {"o", "0/0", "..."});
  expect("daemonsets", R"({"spec": {
      "selector": {"matchLabels": {"a": "b"}},
      "template": {"metadata": {"labels": {"a": "b"}},
                   "spec": {"nodeSelector": {"none": "x", "a": ""},
                            "containers": [{"name": "c", "image": "i"}]}}}})",
         {"o", 0, 0, 0, 0, 0, "a=,none=x", "..."});
  expect("cronjobs", R"({"spec": {"schedule": "0 0 1 1 *",
      "jobTemplate": {"spec": {"template": {"spec": {
          "restartPolicy": "Never",
          "containers": [{"name": "c", "image": "i"}]}}}}}})",
         {"o", "0 0 1 1 *", "<none>", "False", 0, "<none>", "..."});
  expect("jobs", R"({"spec": {"suspend": true, "completions": 3,
      "template": {"spec": {"restartPolicy": "Never",
          "containers": [{"name": "c", "image": "i"}]}}}})",
         {"o", "...", "0/3", "", "..."});
  expect("endpointslices", R"({"addressType": "IPv4",
      "ports": [{"name": "p", "port": 80}],
      "endpoints": [{"addresses": ["10.0.0.1"]}]})",
         {"o", "IPv4", "80", "10.0.0.1", "..."});
  expect("ingresses", R"({"spec": {"ingressClassName": "c",
      "tls": [{"secretName": "s"}],
      "rules": [{"host": "a.b"}, {"host": "c.d"}, {"host": "e.f"},
                {"host": "g.h"}]}})",
         {"o", "c", "a.b,c.d,e.f + 1 more...", "", "80, 443", "..."});
  expect("networkpolicies", R"({"spec": {"podSelector": {
      "matchLabels": {"a": "b"}}, "policyTypes": ["Ingress"]}})",
         {"o", "a=b", "..."});
  expect("roles", R"({"rules": []})", {"o", "..."});
  expect("rolebindings", R"({"roleRef": {"kind": "Role", "name": "r",
      "apiGroup": "rbac.authorization.k8s.io"}})",
         {"o", "Role/r", "..."});
}

TEST_F(TableTest, ShowsEventsOfBothGroups) {
  Create("events", Named("e", {{"involvedObject",
                                {{"kind", "Pod"},
                                 {"name", "a"},
                                 {"namespace", namespace_name()},
                                 {"fieldPath", "spec.containers{c}"}}},
                               {"type", "Warning"},
                               {"reason", "Tested"},
                               {"message", " it\n"},
                               {"source", {{"component", "x"}, {"host", "h"}}},
                               {"firstTimestamp", "2026-01-01T00:00:00Z"},
                               {"lastTimestamp", "2026-01-01T00:00:00Z"}}));
  for (const std::string group : {"/api/v1", "/apis/events.k8s.io/v1"}) {
    EXPECT_THAT(Cells(group + "/namespaces/" + namespace_name() + "/events"),
                JsonHas({"...", "Warning", "Tested", "pod/a",
                         "spec.containers{c}", "x, h", "it", "...", 1, "e"}))
        << group;
  }
}

TEST_F(TableTest, MarksTheDefaultClassOfAList) {
  const std::string name = Unique("class");
  const std::string path = "storageclasses/" + name;
  const json object = Named(name, R"({
    "provisioner": "x.y/z", "metadata": {"annotations": {
      "storageclass.kubernetes.io/is-default-class": "true"}}})"_json);
  Create("storageclasses", object);
  DeleteLater(path);
  json cells = {name + " (default)", "x.y/z", "Delete",
                "Immediate",         false,   "..."};
  const json marked = {{"cells", cells}};
  EXPECT_THAT(GetTable("storageclasses").body.at("rows"),
              testing::Contains(JsonHas(marked)));
  cells[0] = name;
  EXPECT_THAT(Cells(path), JsonHas(cells));
}

TEST_F(TableTest, ReturnsTheColumnsOfAKind) {
  for (const auto& [path, columns] : std::map<std::string, std::string>{
           {"clusterrolebindings", "Name, Role, Age"},
           {"clusterroles", "Name, Created At:date"},
           {"cronjobs",
            "Name, Schedule, Timezone, Suspend:boolean, Active:integer, Last "
            "Schedule, Age"},
           {"csidrivers",
            "Name, AttachRequired:boolean, PodInfoOnMount:boolean, "
            "StorageCapacity:boolean, TokenRequests, "
            "RequiresRepublish:boolean, "
            "Modes, Age"},
           {"csinodes", "Name, Drivers:integer, Age"},
           {"csistoragecapacities", "Name, Created At:date"},
           {"daemonsets",
            "Name, Desired:integer, Current:integer, Ready:integer, "
            "Up-to-date:integer, Available:integer, Node Selector, Age"},
           {"deployments", "Name, Ready, Up-to-date, Available, Age"},
           {"deviceclasses", "Name, Age"},
           {"endpoints", "Name, Endpoints, Age"},
           {"endpointslices", "Name, AddressType, Ports, Endpoints, Age"},
           {"events", "Last Seen, Type, Reason, Object, Message"},
           {"ingressclasses", "Name, Controller, Parameters, Age"},
           {"ingresses", "Name, Class, Hosts, Address, Ports, Age"},
           {"jobs", "Name, Status, Completions, Duration, Age"},
           {"leases", "Name, Holder, Age"},
           {"namespaces", "Name, Status, Age"},
           {"networkpolicies", "Name, Pod-Selector, Age"},
           {"persistentvolumeclaims",
            "Name, Status, Volume, Capacity, Access Modes, StorageClass, "
            "VolumeAttributesClass, Age"},
           {"persistentvolumes",
            "Name, Capacity, Access Modes, Reclaim Policy, Status, Claim, "
            "StorageClass, VolumeAttributesClass, Reason, Age"},
           {"poddisruptionbudgets",
            "Name, Min Available, Max Unavailable, Allowed "
            "Disruptions:integer, Age"},
           {"priorityclasses",
            "Name, Value:integer, Global-Default:boolean, Age, "
            "PreemptionPolicy"},
           {"replicasets",
            "Name, Desired:integer, Current:integer, Ready:integer, Age"},
           {"rolebindings", "Name, Role, Age"},
           {"roles", "Name, Created At:date"},
           {"secrets", "Name, Type, Data, Age"},
           {"serviceaccounts", "Name, Age"},
           {"services", "Name, Type, Cluster-IP, External-IP, Port(s), Age"},
           {"statefulsets", "Name, Ready, Age"},
           {"storageclasses",
            "Name, Provisioner, ReclaimPolicy, VolumeBindingMode, "
            "AllowVolumeExpansion, Age"}}) {
    EXPECT_EQ(Columns(path), columns) << path;
  }
}

TEST_F(TableTest, ReturnsWideColumns) {
  EXPECT_EQ(Columns("nodes", true),
            "Name, Status, Roles, Age, Version | Internal-IP, External-IP, "
            "OS-Image, Kernel-Version, Container-Runtime");
  EXPECT_EQ(Columns("pods", true),
            "Name, Ready, Status, Restarts, Age | IP, Node, Nominated Node, "
            "Readiness Gates");
  for (const char* path : {"events", "/apis/events.k8s.io/v1/events"}) {
    EXPECT_EQ(Columns(path, true),
              "Last Seen, Type, Reason, Object | Subobject, Source | Message | "
              "First Seen, Count, Name");
  }
}

}  // namespace
}  // namespace minisched
