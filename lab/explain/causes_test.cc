#include "lab/explain/causes.h"

#include <gmock/gmock.h>

#include "minisched/api/json.h"

namespace minisched::explain {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Texts = std::vector<std::string>;

// Returns a node with what its pods take.
NodeState StateOf(const std::string& node, const Texts& pods = {}) {
  NodeState state(FromJson<Node>(node));
  for (const std::string& pod : pods) state.AddPod(FromJson<Pod>(pod));
  return state;
}

Texts Causes(const std::string& pod, const NodeState& node,
             const std::string& plugin) {
  return CausesOf(FromJson<Pod>(pod), node, plugin, {"the reason"});
}

constexpr char kNode[] = R"({"metadata": {"name": "n", "labels":
    {"disk": "hdd", "zone": "a"}},
  "spec": {"taints": [{"key": "gpu", "value": "yes", "effect": "NoSchedule"},
                      {"key": "soft", "effect": "PreferNoSchedule"},
                      {"key": "team", "effect": "NoExecute"}]},
  "status": {"allocatable": {"cpu": "8", "memory": "15Gi", "pods": "2"}}})";

std::string PodWith(const std::string& requests) {
  return R"({"metadata": {"name": "p", "namespace": "ns"}, "spec":
      {"containers": [{"resources": {"requests": {)" +
         requests + "}}}]}}";
}

TEST(CausesTest, ResourcesHaveNumbers) {
  const NodeState node =
      StateOf(kNode, {PodWith(R"("cpu": "5500m", "memory": "1Gi")")});
  EXPECT_THAT(
      Causes(PodWith(R"("cpu": "4", "memory": "20Gi")"), node,
             "NodeResourcesFit"),
      ElementsAre("cpu: requests 4, free 2.5 of 8 (1 pod requests 5.5)",
                  "memory: requests 20Gi, free 14Gi of 15Gi (1 pod requests "
                  "1Gi)"));
  EXPECT_THAT(
      Causes(PodWith(R"("example.com/gpu": "1")"), node, "NodeResourcesFit"),
      ElementsAre("example.com/gpu: requests 1, free 0 of 0"));
}

TEST(CausesTest, AFullNodeHasTooManyPods) {
  const NodeState node = StateOf(kNode, {PodWith(""), PodWith("")});
  EXPECT_THAT(Causes(PodWith(""), node, "NodeResourcesFit"),
              ElementsAre("pods: the node has 2, and takes 2"));
}

// Both round to 1Gi.
TEST(CausesTest, ASmallDifferenceIsShown) {
  const NodeState node = StateOf(kNode, {PodWith(R"("memory": "14Gi")")});
  EXPECT_THAT(
      Causes(PodWith(R"("memory": "1073741825")"), node, "NodeResourcesFit"),
      ElementsAre(HasSubstr("requests 1073741825, free 1Gi of 15Gi")));
}

TEST(CausesTest, AnOvercommittedNodeHasNothingFree) {
  const NodeState node = StateOf(kNode, {PodWith(R"("cpu": "9")")});
  EXPECT_THAT(Causes(PodWith(R"("cpu": "1")"), node, "NodeResourcesFit"),
              ElementsAre("cpu: requests 1, free 0 of 8 (1 pod requests 9)"));
}

TEST(CausesTest, PortsHaveTheirPod) {
  const std::string pod = R"({"metadata": {"name": "p", "namespace": "ns"},
      "spec": {"containers": [{"ports": [{"hostPort": 80, "protocol": "TCP"},
                                         {"hostPort": 81, "protocol": "TCP"}]}]
      }})";
  const std::string holder = R"({"metadata": {"name": "h", "namespace": "x"},
      "spec": {"containers": [{"ports": [{"hostPort": 80, "hostIP": "10.0.0.1",
                                          "protocol": "TCP"}]}]}})";
  EXPECT_THAT(Causes(pod, StateOf(kNode, {holder}), "NodePorts"),
              ElementsAre("port 80/TCP is in use by x/h"));
}

TEST(CausesTest, TaintsAreThoseThatKeepThePodAway) {
  EXPECT_THAT(Causes(R"({"spec": {"tolerations": [
                       {"key": "team", "operator": "Exists"}]}})",
                     StateOf(kNode), "TaintToleration"),
              ElementsAre("gpu=yes:NoSchedule"));
  EXPECT_THAT(Causes("{}", StateOf(kNode), "TaintToleration"),
              ElementsAre("gpu=yes:NoSchedule", "team:NoExecute"));
}

TEST(CausesTest, AffinityComparesLabels) {
  EXPECT_THAT(Causes(R"({"spec": {"nodeSelector": {"disk": "ssd", "zone": "a",
                                           "gpu": "yes"}}})",
                     StateOf(kNode), "NodeAffinity"),
              ElementsAre("selects disk=ssd, the node has disk=hdd",
                          "selects gpu=yes, the node has no label gpu"));
  const auto requiring = [](const std::string& terms) {
    return R"({"spec": {"affinity": {"nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution":
        {"nodeSelectorTerms": [)" +
           terms + "]}}}}}";
  };
  EXPECT_THAT(Causes(requiring(R"({"matchExpressions": [
                 {"key": "zone", "operator": "In", "values": ["b", "c"]},
                 {"key": "disk", "operator": "Exists"},
                 {"key": "gpu", "operator": "Exists"}]})"),
                     StateOf(kNode), "NodeAffinity"),
              ElementsAre("requires zone In (b, c), the node has zone=a",
                          "requires gpu Exists, the node has no label gpu"));
  const std::string other = R"({"matchExpressions": [
      {"key": "gpu", "operator": "Exists"}]})";
  EXPECT_THAT(
      Causes(requiring(other + "," + other), StateOf(kNode), "NodeAffinity"),
      ElementsAre("none of the 2 required terms matches the node"));
}

TEST(CausesTest, GreaterAndLessNeedIntegers) {
  const auto requiring = [](const std::string& requirements) {
    return R"({"spec": {"affinity": {"nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution":
        {"nodeSelectorTerms": [{"matchExpressions": [)" +
           requirements + "]}]}}}}}";
  };
  EXPECT_THAT(Causes(requiring(R"(
                 {"key": "zone", "operator": "Gt", "values": ["1.5"]},
                 {"key": "zone", "operator": "Lt", "values": []},
                 {"key": "zone", "operator": "Lt", "values": ["-6"]},
                 {"key": "disk", "operator": "Exists"})"),
                     StateOf(kNode), "NodeAffinity"),
              ElementsAre("requires zone Gt (1.5), which no node meets: Gt "
                          "needs one integer",
                          "requires zone Lt, which no node meets: Lt needs one "
                          "integer",
                          "requires zone Lt (-6), the node has zone=a, which "
                          "is no integer"));
  const std::string other = R"({"key": "gpu", "operator": "Exists"}]},
                               {"matchExpressions": [
      {"key": "zone", "operator": "Gt", "values": ["x"]})";
  EXPECT_THAT(Causes(requiring(other), StateOf(kNode), "NodeAffinity"),
              ElementsAre("none of the 2 required terms matches the node",
                          "requires zone Gt (x), which no node meets: Gt needs "
                          "one integer"));
}

TEST(CausesTest, TolerationsDoNotCompareNumbers) {
  const auto tolerating = [](const std::string& value) {
    return R"({"spec": {"tolerations": [{"key": "team", "operator": "Exists"},
        {"key": "gpu", "operator": "Gt", "value": ")" +
           value + R"("}]}})";
  };
  EXPECT_THAT(Causes(tolerating("7"), StateOf(kNode), "TaintToleration"),
              ElementsAre("gpu=yes:NoSchedule (the toleration gpu Gt 7 doesn't "
                          "count: it needs the feature gate "
                          "TaintTolerationComparisonOperators)"));
  EXPECT_THAT(Causes(tolerating("7.5"), StateOf(kNode), "TaintToleration"),
              ElementsAre("gpu=yes:NoSchedule (the toleration gpu Gt 7.5 "
                          "doesn't count: Gt needs an integer)"));
}

std::string PodWithInit(const std::string& init, const std::string& more = "") {
  return R"({"spec": {"initContainers": [)" + init +
         R"(], "containers": [{"name": "c", "resources": {"requests": )"
         R"({"cpu": "1"}}}])" +
         more + "}}";
}

TEST(CausesTest, RequestsHaveTheirOrigin) {
  constexpr char kMigrate[] =
      R"({"name": "check"}, {"name": "migrate", "resources":
          {"requests": {"cpu": "9"}}})";
  EXPECT_THAT(Causes(PodWithInit(kMigrate), StateOf(kNode), "NodeResourcesFit"),
              ElementsAre("cpu: requests 9 (init container migrate), free 8 of "
                          "8"));
  // A sidecar runs beside the containers.
  constexpr char kSidecar[] =
      R"({"name": "proxy", "restartPolicy": "Always", "resources":
          {"requests": {"cpu": "8"}}})";
  EXPECT_THAT(Causes(PodWithInit(kSidecar), StateOf(kNode), "NodeResourcesFit"),
              ElementsAre("cpu: requests 9, free 8 of 8"));
  EXPECT_THAT(Causes(PodWithInit("", R"(, "overhead": {"cpu": "8"})"),
                     StateOf(kNode), "NodeResourcesFit"),
              ElementsAre("cpu: requests 9 (8 overhead), free 8 of 8"));
  EXPECT_THAT(
      Causes(PodWithInit(kMigrate,
                         R"(, "resources": {"requests": {"cpu": "10"}})"),
             StateOf(kNode), "NodeResourcesFit"),
      ElementsAre("cpu: requests 10 (the pod as a whole), free 8 of 8"));
}

TEST(CausesTest, ManyCoresMayBeThousandths) {
  EXPECT_THAT(
      Causes(PodWith(R"("cpu": "500")"), StateOf(kNode), "NodeResourcesFit"),
      ElementsAre("cpu: requests 500, free 8 of 8",
                  "cpu: 500 means 500 cores: did you mean 500m?"));
  EXPECT_THAT(
      Causes(PodWith(R"("cpu": "16")"), StateOf(kNode), "NodeResourcesFit"),
      ElementsAre("cpu: requests 16, free 8 of 8"));
}

TEST(CausesTest, OtherPluginsHaveTheirReasons) {
  EXPECT_THAT(Causes("{}", StateOf(kNode), "VolumeBinding"),
              ElementsAre("the reason"));
  EXPECT_THAT(Causes("{}", StateOf(kNode), "NodeUnschedulable"),
              ElementsAre("cordoned"));
  // The node has changed since the attempt.
  EXPECT_THAT(Causes("{}", StateOf(kNode), "NodeResourcesFit"),
              ElementsAre("the reason"));
}

TEST(CausesTest, FieldsOfANodeCanBeUnmet) {
  const Node node = FromJson<Node>(kNode);
  const NodeSelectorTerm term = {
      .match_fields = {{.key = "metadata.name", .op = "In", .values = {"x"}}}};
  EXPECT_EQ(UnmetRequirements(term, node).size(), 1);
  EXPECT_THAT(UnmetRequirements({.match_fields = {{.key = "metadata.name",
                                                   .op = "In",
                                                   .values = {"n"}}}},
                                node),
              IsEmpty());
}

}  // namespace
}  // namespace minisched::explain
