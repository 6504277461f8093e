// Nodes. On a real cluster, controllers change each node as soon as the node
// exists, so many of these tests use dry runs.

#include "lab/contract/contract_testing.h"
#include "lab/contract/messages_testing.h"

namespace minisched {
namespace {

class NodeTest : public ContractTest {
 protected:
  Reply Try(const json& change) {
    return Post("nodes?dryRun=All", Named("contract-n", change));
  }
  Reply TryTaints(const char* taints) {
    return Try({{"spec", {{"taints", json::parse(taints)}}}});
  }

  // Creates a node (no dry run) and returns its path.
  std::string CreateNode(const json& change = json::object()) {
    const std::string name = Unique("node");
    Create("nodes", Named(name, change));
    DeleteLater("nodes/" + name);
    return "nodes/" + name;
  }

  static testing::Matcher<const Reply&> InvalidNode(
      const std::vector<std::string>& errors) {
    return Invalid("Node", "contract-n", errors);
  }
};

TEST_F(NodeTest, ANewNodeHasAnEmptySpec) {
  const Reply reply = Try(json::object());
  EXPECT_THAT(reply, Answers(201, R"({
    "kind": "Node", "apiVersion": "v1",
    "metadata": {"namespace": null, "generation": null}})"_json));
  EXPECT_EQ(reply.body.at("spec"), json::object());
  EXPECT_EQ(reply.body.at("status"), R"({
    "daemonEndpoints": {"kubeletEndpoint": {"Port": 0}},
    "nodeInfo": {"machineID": "", "systemUUID": "", "bootID": "",
      "kernelVersion": "", "osImage": "", "containerRuntimeVersion": "",
      "kubeletVersion": "", "kubeProxyVersion": "", "operatingSystem": "",
      "architecture": ""}})"_json);
}

// The server keeps the status of a new node, but resets the status of a new
// pod.
TEST_F(NodeTest, KeepsTheStatusOnCreation) {
  EXPECT_THAT(Try(R"({"status": {
                "capacity": {"cpu": "4", "memory": "8Gi", "pods": 110},
                "allocatable": {"cpu": "3500m"},
                "conditions": [{"type": "Ready", "status": "True"}]}})"_json),
              Answers(201, R"({"status": {
                "capacity": {"cpu": "4", "memory": "8Gi", "pods": "110"},
                "allocatable": {"cpu": "3500m"},
                "conditions": [{"type": "Ready", "status": "True"}]}})"_json));
}

TEST_F(NodeTest, AllocatableDefaultsToCapacity) {
  EXPECT_THAT(Try(R"({"status": {"capacity": {"cpu": "4"}}})"_json),
              Answers(201, R"({"status": {
                "capacity": {"cpu": "4"}, "allocatable": {"cpu": "4"}}})"_json));
}

TEST_F(NodeTest, RejectsInvalidTaints) {
  EXPECT_THAT(TryTaints(R"([{"key": "k"}])"),
              InvalidNode({"metadata.taints[0].effect: Required value"}));
  EXPECT_THAT(
      TryTaints(R"([{"key": "k", "effect": "X"}])"),
      InvalidNode({"metadata.taints[0].effect: Unsupported value: \"X\": "
                   "supported values: \"NoSchedule\", \"PreferNoSchedule\", "
                   "\"NoExecute\""}));
  EXPECT_THAT(
      TryTaints(R"([{"key": "a b", "value": "c d", "effect": "NoSchedule"}])"),
      InvalidNode({"metadata.taints[0].key: Invalid value: \"a b\": " +
                       kNoQualifiedName,
                   "metadata.taints[0].value: Invalid value: \"c d\": " +
                       kNoLabelValue}));
}

TEST_F(NodeTest, RejectsInvalidNamesAndCapacities) {
  EXPECT_THAT(
      Post("nodes", Named("Bad_")),
      Invalid("Node", "Bad_",
              {"metadata.name: Invalid value: \"Bad_\": " + kNoSubdomain}));
  EXPECT_THAT(
      Try(R"({"status": {"capacity": {"cpu": "-1"}}})"_json),
      InvalidNode({"status.capacity.cpu: Invalid value: \"-1\": must be "
                   "greater than or equal to 0",
                   "status.allocatable.cpu: Invalid value: \"-1\": must "
                   "be greater than or equal to 0"}));
}

TEST_F(NodeTest, TheSpecMayChange) {
  const std::string node = CreateNode();
  EXPECT_THAT(MergePatch(node, R"({"spec": {"unschedulable": true}})"_json),
              Answers(200, R"({"metadata": {"generation": null},
                               "spec": {"unschedulable": true}})"_json));
  EXPECT_THAT(MergePatch(node, R"({"spec": {"unschedulable": null}})"_json),
              Answers(200, R"({"spec": {"unschedulable": null}})"_json));
}

// Taints have no merge key, so kubectl taint sends all taints.
TEST_F(NodeTest, AStrategicPatchReplacesAllTaints) {
  const std::string node = CreateNode();
  const auto patch = [&](const char* key) {
    return StrategicPatch(
        node,
        {{"spec", {{"taints", {{{"key", key}, {"effect", "NoSchedule"}}}}}}});
  };
  EXPECT_THAT(patch("a"),
              Answers(200, R"({"spec": {"taints": [{"key": "a"}]}})"_json));
  EXPECT_THAT(patch("b"),
              Answers(200, R"({"spec": {"taints": [{"key": "b"}]}})"_json));
}

TEST_F(NodeTest, StatusAndSpecChangeSeparately) {
  const std::string node = CreateNode();
  EXPECT_THAT(
      MergePatch(node, R"({"status": {"capacity": {"x.y/z": "1"}}})"_json),
      Answers(200));
  EXPECT_THAT(MergePatch(node + "/status", R"({
                "spec": {"unschedulable": true},
                "status": {"capacity": {"x.y/w": "1"}}})"_json),
              Answers(200, R"({
                "spec": {"unschedulable": null},
                "status": {"capacity": {"x.y/w": "1",
                                        "x.y/z": null}}})"_json));
  EXPECT_THAT(Get(node + "/status"), Answers(200, R"({"kind": "Node"})"_json));
}

TEST_F(NodeTest, MergesConditionsByType) {
  const std::string node = CreateNode();
  const auto has = [&](const std::string& type) {
    const json status = Read(node).at("status");
    for (const json& condition : status.value("conditions", json::array())) {
      if (condition.at("type") == type) return true;
    }
    return false;
  };
  for (const std::string type : {"x.y/A", "x.y/B"}) {
    EXPECT_THAT(
        StrategicPatch(
            node + "/status",
            {{"status",
              {{"conditions", {{{"type", type}, {"status", "True"}}}}}}}),
        Answers(200));
  }
  EXPECT_TRUE(has("x.y/A"));
  EXPECT_TRUE(has("x.y/B"));
}

TEST_F(NodeTest, DeletionReturnsAStatus) {
  const std::string node = CreateNode();
  const std::string name = node.substr(node.find('/') + 1);
  EXPECT_THAT(
      Delete(node),
      Answers(200, {{"kind", "Status"},
                    {"status", "Success"},
                    {"details",
                     {{"name", name}, {"kind", "nodes"}, {"uid", "..."}}}}));
  EXPECT_THAT(Get(node), Answers(404));
}

}  // namespace
}  // namespace minisched
