#include "minisched/live/transfer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "minisched/api/node.h"
#include "minisched/api/pod.h"
#include "minisched/api/yaml.h"
#include "testing/embedded_server.h"

namespace minisched::live {
namespace {

using Json = nlohmann::json;
using http::Reply;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr const char* kCluster = R"(
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 1000
---
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {zone: a}}
spec: {taints: [{key: k, effect: NoSchedule}]}
status:
  allocatable: {cpu: "4", pods: "10"}
  capacity: {cpu: "4", pods: "10"}
---
apiVersion: v1
kind: Pod
metadata: {name: bound, namespace: shop}
spec: {nodeName: n1, containers: [{name: c, image: i}]}
---
apiVersion: v1
kind: Pod
metadata: {name: pending, namespace: shop, labels: {"on": "yes"}}
spec:
  priorityClassName: high
  containers: [{name: c, image: i, args: ["0644", "a: b", "<b>"]}]
---
apiVersion: v1
kind: Pod
metadata: {name: system, namespace: kube-system}
spec: {containers: [{name: c, image: i}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: i}]}
)";

class TransferTest : public ::testing::Test {
 protected:
  using Start = std::function<void(Transfer::Respond)>;

  static Reply Await(const Start& start) {
    std::promise<Reply> promise;
    start([&](Reply reply) { promise.set_value(std::move(reply)); });
    return promise.get_future().get();
  }
  std::string Export() {
    return Await([&](auto done) { transfer_.Export(std::move(done)); }).body;
  }
  Json ExportedItems() {
    return Json::parse(YamlToJson(Export()).at(0))["items"];
  }
  Reply Import(const std::string& text) {
    return Await([&](auto done) {
      transfer_.Import({.method = "POST", .body = text}, std::move(done));
    });
  }
  Json ImportOk(const std::string& text) {
    const Reply reply = Import(text);
    EXPECT_EQ(reply.status, 200) << reply.body;
    return Json::parse(reply.body);
  }
  Json Reset() {
    return Json::parse(
        Await([&](auto done) { transfer_.Reset(std::move(done)); }).body);
  }

  template <class T>
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    for (const auto& object : client_.List<T>().items) {
      names.push_back(object->metadata.name);
    }
    return names;
  }

  EmbeddedServer server_{kCluster};
  Client client_{server_.config()};
  Transfer transfer_{client_};
};

TEST_F(TransferTest, ExportsAListForKubectl) {
  const Json list = Json::parse(YamlToJson(Export()).at(0));
  EXPECT_EQ(list["kind"], "List");
  EXPECT_EQ(list["apiVersion"], "v1");
  std::vector<std::string> names;
  for (const Json& item : list["items"]) {
    names.push_back(item["kind"].get<std::string>() + " " +
                    item["metadata"]["name"].get<std::string>());
    EXPECT_FALSE(item["metadata"].contains("uid"));
    EXPECT_FALSE(item["metadata"].contains("resourceVersion"));
    EXPECT_EQ(item.contains("status"), item["kind"] == "Node");
  }
  EXPECT_THAT(names,
              ElementsAre("Namespace shop", "PriorityClass high", "Node n1",
                          "Pod bound", "Pod pending", "Deployment web"));
}

TEST_F(TransferTest, LeavesOutWhatTheClusterMakesByItself) {
  Pod owned;
  owned.metadata = {.name = "owned",
                    .namespace_name = "shop",
                    .owner_references = {{.api_version = "apps/v1",
                                          .kind = "ReplicaSet",
                                          .name = "r",
                                          .uid = "1",
                                          .controller = true}}};
  owned.spec.containers = {{.name = "c", .image = "i"}};
  client_.Create(owned);
  client_.Patch<Pod>("shop", "bound", PatchType::kMerge,
                     R"({"status":{"phase":"Succeeded"}})", "status");
  for (const Json& item : ExportedItems()) {
    EXPECT_NE(item["metadata"]["name"], "owned");
    EXPECT_NE(item["metadata"]["name"], "bound");
  }
}

TEST_F(TransferTest, AnExportCanBeImportedIntoAnEmptyCluster) {
  const std::string exported = Export();
  const EmbeddedServer other;
  Client client(other.config());
  Transfer transfer(client);
  const Reply imported = Await([&](auto done) {
    transfer.Import({.method = "POST", .body = exported}, std::move(done));
  });
  EXPECT_EQ(Json::parse(imported.body), Json::parse(R"({
      "created": {"Namespace": 1, "PriorityClass": 1, "Node": 1, "Pod": 2,
                  "Deployment": 1},
      "skipped": {}, "deleted": {}, "errors": []})"));
  EXPECT_EQ(Await([&](auto done) { transfer.Export(std::move(done)); }).body,
            exported);
  EXPECT_EQ(client.Get<Pod>("shop", "bound")->spec.node_name, "n1");
}

TEST_F(TransferTest, SkipsWhatExistsAndCountsIt) {
  EXPECT_EQ(ImportOk(Export()), Json::parse(R"({
      "created": {},
      "skipped": {"Namespace that exists already": 1,
                  "PriorityClass that exists already": 1,
                  "Node that exists already": 1, "Pod that exists already": 2,
                  "Deployment that exists already": 1},
      "deleted": {}, "errors": []})"));
}

TEST_F(TransferTest, ImportsWhatTheSimulatorExports) {
  const Json summary = ImportOk(R"({
    "pods": [{"metadata": {"name": "p", "namespace": "new", "uid": "9",
                           "resourceVersion": "5", "managedFields": [],
                           "ownerReferences": [{"uid": "gone"}]},
              "spec": {"priorityClassName": "mine",
                       "containers": [{"name": "c", "image": "i"}]},
              "status": {"phase": "Running"}}],
    "nodes": [{"metadata": {"name": "m"},
               "status": {"allocatable": {"cpu": "2"},
                          "capacity": {"cpu": "2"}, "phase": "x"}}],
    "pvs": [], "pvcs": null, "storageClasses": [],
    "priorityClasses": [
      {"metadata": {"name": "mine"}, "value": 5},
      {"metadata": {"name": "system-node-critical"}, "value": 2000001000}],
    "namespaces": [{"metadata": {"name": "new"}},
                   {"metadata": {"name": "kube-system"}}],
    "schedulerConfig": {"kind": "KubeSchedulerConfiguration"}})");
  EXPECT_EQ(summary, Json::parse(R"({
      "created": {"Namespace": 1, "PriorityClass": 1, "Node": 1, "Pod": 1},
      "skipped": {"Namespace of the system": 1,
                  "PriorityClass of the system": 1, "schedulerConfig": 1},
      "deleted": {}, "errors": []})"));
  const auto pod = client_.Get<Pod>("new", "p");
  EXPECT_THAT(pod->metadata.owner_references, IsEmpty());
  EXPECT_EQ(pod->spec.priority, 5);
  EXPECT_EQ(pod->status.phase, "Pending");
  EXPECT_EQ(client_.Get<Node>("", "m")->status.allocatable.at("cpu"),
            Quantity::Parse("2"));
}

TEST_F(TransferTest, ImportsOtherManifestsInOrder) {
  EXPECT_EQ(ImportOk(R"(
apiVersion: v1
kind: PodList
items:
- metadata: {name: p, namespace: later}
  spec: {containers: [{name: c, image: i}]}
---
apiVersion: v1
kind: Namespace
metadata: {name: later}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
)"),
            Json::parse(R"({"created": {"Namespace": 1, "Pod": 1},
                            "skipped": {"ConfigMap": 1}, "deleted": {},
                            "errors": []})"));
}

TEST_F(TransferTest, AnImportedObjectWithoutNamespaceIsInDefault) {
  const Json summary = ImportOk(R"(
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {containers: [{name: c, image: i}]}
---
apiVersion: v1
kind: Node
metadata: {name: m}
)");
  EXPECT_EQ(summary["created"], Json::parse(R"({"Pod": 1, "Node": 1})"));
  EXPECT_EQ(client_.Get<Pod>("default", "p")->metadata.name, "p");
}

TEST_F(TransferTest, ReportsRefusedObjectsAndGoesOn) {
  std::string pods;
  for (int i = 0; i < 30; ++i) {
    pods += R"({"metadata": {"namespace": "none", "name": "p)" +
            std::to_string(i) + R"("}},)";
  }
  const Json summary = ImportOk(
      R"({"nodes": [{"metadata": {"name": "BAD"}}, {"metadata": {"name": "m"}}],
          "pods": [)" +
      pods + R"({"spec": {}}]})");
  EXPECT_EQ(summary["created"], Json::parse(R"({"Node": 1})"));
  ASSERT_EQ(summary["errors"].size(), 21U);
  EXPECT_EQ(summary["errors"][0], "Pod: an object without metadata.name");
  EXPECT_THAT(summary["errors"][1], HasSubstr("Node BAD: "));
  EXPECT_EQ(summary["errors"][20], "…");
}

TEST_F(TransferTest, MalformedInputIsOneSentence) {
  const std::pair<const char*, const char*> cases[] = {
      {"a: [", "line 1"},
      {"3", "expected an object"},
      {"[]", "expected an object"},
      {"{\"pods\": 3}", "pods"},
      {"{\"pods\": [3]}", "object"},
      {"{\"kind\": \"List\", \"items\": 7}", "items"},
      {"{\"kind\": \"List\", \"items\": [7]}", "object"}};
  for (const auto& [text, error] : cases) {
    const Reply reply = Import(text);
    EXPECT_EQ(reply.status, 400) << text;
    EXPECT_THAT(reply.body, HasSubstr(error)) << text;
  }
}

TEST_F(TransferTest, AResetReturnsToTheStart) {
  transfer_.Remember({});
  const std::string before = Export();
  // A changed node, a new one, a missing pod and a new one, a new namespace.
  client_.Patch<Node>("", "n1", PatchType::kMerge,
                      R"({"spec":{"unschedulable":true,"taints":null},
          "metadata":{"labels":{"zone":"b","new":"x"}}})");
  const std::string uid = client_.Get<Node>("", "n1")->metadata.uid;
  client_.Delete<Pod>("shop", "pending");
  ImportOk(R"({"nodes": [{"metadata": {"name": "m"}}],
               "namespaces": [{"metadata": {"name": "new"}}],
               "pods": [{"metadata": {"name": "p", "namespace": "shop"},
                         "spec": {"containers": [{"name": "c",
                                                  "image": "i"}]}}]})");
  const Json summary = Reset();
  EXPECT_THAT(summary["errors"], IsEmpty());
  EXPECT_EQ(Export(), before);
  EXPECT_EQ(client_.Get<Node>("", "n1")->metadata.uid, uid);
  EXPECT_THAT(Names<Node>(), ElementsAre("n1"));
  EXPECT_THAT(Names<Pod>(), UnorderedElementsAre("bound", "pending", "system"));
}

TEST_F(TransferTest, AResetRestoresANodeWhoseStatusChangesMeanwhile) {
  transfer_.Remember({});
  client_.Patch<Node>("", "n1", PatchType::kMerge,
                      R"({"spec":{"unschedulable":true}})");
  server_.server().SetFaults(
      "faults: [{match: {verbs: [update], resource: nodes}, latency: 200ms}]");
  const std::jthread kubelet([this](const std::stop_token& stop) {
    for (int i = 0; !stop.stop_requested(); ++i) {
      client_.Patch<Node>(
          "", "n1", PatchType::kMerge,
          R"({"status":{"phase":")" + std::to_string(i) + R"("}})", "status");
    }
  });
  EXPECT_THAT(Reset()["errors"], IsEmpty());
  EXPECT_FALSE(client_.Get<Node>("", "n1")->spec.unschedulable);
}

TEST_F(TransferTest, AnUnreachableServerIsABadGateway) {
  Client client({.server = "http://127.0.0.1:1"});
  Transfer transfer(client);
  EXPECT_EQ(Await([&](auto done) { transfer.Export(std::move(done)); }).status,
            502);
}

}  // namespace
}  // namespace minisched::live
