#include "lab/live/transfer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <map>
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
using ::testing::Not;
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

// Objects of the other kinds that schedulers read. The pods of the ReplicaSet
// have owners.
constexpr const char* kOtherKinds = R"(
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec:
  type: NodePort
  selector: {app: web}
  ports: [{port: 80, nodePort: 30080}]
---
apiVersion: v1
kind: Service
metadata: {name: no-selector, namespace: shop}
spec: {ports: [{port: 80}]}
---
apiVersion: v1
kind: ReplicationController
metadata: {name: rc, namespace: shop}
spec: {replicas: 0, selector: {app: rc}}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: set, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: set}}
  template:
    metadata: {labels: {app: set}}
    spec: {containers: [{name: c, image: i}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: shop}
spec:
  replicas: 0
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: c, image: i}]}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: shop}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: c, image: i}]}
---
apiVersion: storage.k8s.io/v1
kind: CSINode
metadata: {name: n1}
spec: {drivers: [{name: d, nodeID: n1, allocatable: {count: 3}}]}
---
apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata: {name: d}
spec: {}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast}
provisioner: d
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: disk}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteOnce]
  hostPath: {path: /tmp}
  claimRef: {namespace: shop, name: data, uid: gone}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: shop}
spec:
  volumeName: disk
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 1Gi}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: shop}
spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec: {}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: n1-gpu}
spec:
  driver: gpu.example.com
  nodeName: n1
  pool: {name: n1, generation: 1, resourceSliceCount: 1}
  devices: [{name: gpu-0}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: gpu, namespace: shop}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}
status:
  allocation:
    devices:
      results: [{request: r, driver: gpu.example.com, pool: n1, device: gpu-0}]
  reservedFor: [{resource: pods, name: pending, uid: gone}]
)";

// A cluster in which kubelets and controllers work.
const apiserver::ServerOptions kSimulated{.simulate_kubelet = true,
                                          .simulate_workloads = true};

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
  }
  EXPECT_THAT(
      names,
      ElementsAre("Namespace default", "Namespace kube-node-lease",
                  "Namespace kube-public", "Namespace kube-system",
                  "Namespace shop", "PriorityClass high", "Node n1",
                  "Pod system", "Pod bound", "Pod pending", "Deployment web"));
}

TEST_F(TransferTest, ExportsWhatSchedulersReadAndNoSecrets) {
  ImportOk(kOtherKinds);
  client_.Send({.method = "POST",
                .path = "/api/v1/namespaces/shop/configmaps",
                .body = R"({"metadata": {"name": "hidden"}})"});
  const std::string text = Export();
  EXPECT_THAT(text, HasSubstr("# Left out: Secrets, "));
  EXPECT_THAT(text, Not(HasSubstr("hidden")));
  std::map<std::string, Json> items;
  for (const Json& item : ExportedItems()) items[item["kind"]] = item;
  for (const char* kind :
       {"Service", "StatefulSet", "DaemonSet", "ReplicationController",
        "ReplicaSet", "CSINode", "CSIDriver", "DeviceClass", "ResourceClaim",
        "ResourceSlice", "PodDisruptionBudget", "PersistentVolume",
        "PersistentVolumeClaim", "StorageClass"}) {
    EXPECT_TRUE(items.contains(kind)) << kind;
  }
  EXPECT_EQ(items["Service"]["spec"]["selector"]["app"], "web");
  EXPECT_THAT(text, Not(HasSubstr("nodePort")));
  EXPECT_THAT(text, Not(HasSubstr("no-selector")));
  EXPECT_EQ(items["ResourceClaim"]["status"]["allocation"]["devices"]["results"]
                 [0]["device"],
            "gpu-0");
}

TEST_F(TransferTest, LeavesOutObjectsThatEnd) {
  client_.Patch<Pod>("shop", "bound", PatchType::kMerge,
                     R"({"status":{"phase":"Succeeded"}})", "status");
  for (const Json& item : ExportedItems()) {
    EXPECT_NE(item["metadata"]["name"], "bound");
  }
}

TEST_F(TransferTest, SaysWhichKindsItMayNotList) {
  server_.server().SetFaults(
      "faults: [{match: {resource: csinodes}, error: {code: 403}}]");
  const std::string text = Export();
  EXPECT_THAT(text, HasSubstr("\n# Left out: \"csinodes"));
  EXPECT_THAT(text, HasSubstr("kind: Node\n"));
}

TEST_F(TransferTest, PodsOfControllersAreCopiedWithTheirOwnersAndNotDoubled) {
  const EmbeddedServer from(std::string(kCluster) + "---\n" + kOtherKinds,
                            kSimulated);
  Client reader(from.config());
  const auto pods_of = [](Client& client) {
    std::map<std::string, std::string> owners;
    for (const auto& pod : client.List<Pod>().items) {
      const auto& references = pod->metadata.owner_references;
      owners[pod->metadata.name + " on " + pod->spec.node_name] =
          references.empty() ? "" : references[0].kind;
    }
    return owners;
  };
  while (pods_of(reader).size() < 6) std::this_thread::yield();
  for (const auto& pod : reader.List<Pod>().items) {
    if (pod->spec.node_name.empty() && pod->metadata.name != "pending") {
      reader.Bind({.metadata = {.name = pod->metadata.name,
                                .namespace_name = pod->metadata.namespace_name},
                   .target = {.kind = "Node", .name = "n1"}});
    }
  }
  const auto expected = pods_of(reader);
  Transfer source(reader);
  const std::string exported =
      Await([&](auto done) { source.Export(std::move(done)); }).body;

  const EmbeddedServer to("", kSimulated);
  Client client(to.config());
  Transfer transfer(client);
  const Reply imported = Await([&](auto done) {
    transfer.Import({.method = "POST", .body = exported}, std::move(done));
  });
  EXPECT_EQ(Json::parse(imported.body)["errors"], Json::array());
  EXPECT_EQ(pods_of(client), expected);
  // The controllers have nothing to do.
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_EQ(pods_of(client), expected);
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
      "created": {"Namespace": 1, "PriorityClass": 1, "Node": 1, "Pod": 3,
                  "Deployment": 1},
      "skipped": {"Namespace of the system": 4}, "deleted": {},
      "errors": []})"));
  EXPECT_EQ(Await([&](auto done) { transfer.Export(std::move(done)); }).body,
            exported);
  EXPECT_EQ(client.Get<Pod>("shop", "bound")->spec.node_name, "n1");
}

TEST_F(TransferTest, TheLabelsOfTheDefaultNamespaceAreImported) {
  ImportOk(R"({"kind": "Namespace",
               "metadata": {"name": "default", "labels": {"team": "a"}}})");
  EXPECT_THAT(Export(), HasSubstr("      kubernetes.io/metadata.name: default\n"
                                  "      team: a\n"));
}

TEST_F(TransferTest, AnExportCanBeLoadedIntoANewServer) {
  const EmbeddedServer from(kCluster, kSimulated);
  Client reader(from.config());
  const auto owners = [](Client& client) {
    std::map<std::string, std::string> found;
    for (const auto& pod : client.List<Pod>().items) {
      for (const auto& owner : pod->metadata.owner_references) {
        found[pod->metadata.name] = owner.name;
      }
    }
    return found;
  };
  while (owners(reader).empty()) std::this_thread::yield();
  const auto expected = owners(reader);
  Transfer source(reader);
  const EmbeddedServer to(
      Await([&](auto done) { source.Export(std::move(done)); }).body,
      kSimulated);
  Client client(to.config());
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_EQ(owners(client), expected);
}

TEST_F(TransferTest, SkipsWhatExistsAndCountsIt) {
  EXPECT_EQ(ImportOk(Export()), Json::parse(R"({
      "created": {},
      "skipped": {"Namespace of the system": 4,
                  "Namespace that exists already": 1,
                  "PriorityClass that exists already": 1,
                  "Node that exists already": 1, "Pod that exists already": 3,
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
