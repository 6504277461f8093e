#include "lab/apiserver/controllers/kubelet_admission.h"

#include <gmock/gmock.h>

namespace minisched::apiserver {
namespace {

using ::testing::HasSubstr;

const Json kNode = Json::parse(R"({
  "metadata": {"name": "n", "labels": {"disk": "ssd", "size": "7"}},
  "spec": {"taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}]},
  "status": {"allocatable": {"cpu": "2", "memory": "1Gi", "pods": "3"}}})");

std::string ReasonAndMessage(const std::string& pod_spec, Json node = kNode,
                             const std::string& others = "[]") {
  std::vector<Object> running;
  for (const Json& other : Json::parse(others)) {
    running.push_back(std::make_shared<const Json>(Json{{"spec", other}}));
  }
  const auto rejection =
      CheckAdmission({{"spec", Json::parse(pod_spec)}}, node, running);
  return rejection ? rejection->reason + ": " + rejection->message : "";
}

std::string Requesting(const std::string& requests) {
  return R"({"containers": [{"resources": {"requests": )" + requests + "}}]}";
}

TEST(CheckAdmissionTest, AcceptsPodsThatFit) {
  EXPECT_EQ(ReasonAndMessage("{}"), "");
  EXPECT_EQ(ReasonAndMessage(Requesting(R"({"cpu": "2", "memory": "1Gi"})")),
            "");
  // Another component may allocate an extended resource that the node does not
  // list.
  EXPECT_EQ(ReasonAndMessage(Requesting(R"({"example.com/gpu": "1"})")), "");
}

TEST(CheckAdmissionTest, RejectsPodsThatDoNotFit) {
  const std::string begin = "Node didn't have enough resource: ";
  EXPECT_EQ(
      ReasonAndMessage(Requesting(R"({"cpu": "4", "memory": "4Gi"})")),
      "OutOfcpu: " + begin + "cpu, requested: 4000, used: 0, capacity: 2000");
  EXPECT_EQ(ReasonAndMessage(Requesting(R"({"memory": "1Mi"})"), kNode,
                             "[" + Requesting(R"({"memory": "1Gi"})") + "]"),
            "OutOfmemory: " + begin +
                "memory, requested: 1048576, used: 1073741824, capacity: "
                "1073741824");
  EXPECT_EQ(ReasonAndMessage("{}", kNode, "[{}, {}, {}]"),
            "OutOfpods: " + begin + "pods, requested: 1, used: 3, capacity: 3");
  EXPECT_EQ(ReasonAndMessage(Requesting(R"({"ephemeral-storage": "1"})")),
            "OutOfephemeral-storage: " + begin +
                "ephemeral-storage, requested: 1, used: 0, capacity: 0");
  EXPECT_EQ(ReasonAndMessage(Requesting(R"({"kubernetes.io/x": "1"})")),
            "OutOfkubernetes.io/x: " + begin +
                "kubernetes.io/x, requested: 1, used: 0, capacity: 0");
}

TEST(CheckAdmissionTest, CountsTheResourcesOfPodsThatAreResized) {
  const auto resized = [](const std::string& from, const std::string& to) {
    return std::make_shared<const Json>(Json::parse(R"({
      "spec": {"containers": [{"name": "c", "resources": {
          "requests": {"cpu": ")" + to + R"("}}}]},
      "status": {
          "conditions": [{"type": "PodResizePending", "reason": "Infeasible"}],
          "containerStatuses": [{"name": "c", "resources": {
              "requests": {"cpu": ")" + from + R"("}}}]}})"));
  };
  const Json pod = {{"spec", Json::parse(Requesting(R"({"cpu": "1"})"))}};
  EXPECT_TRUE(CheckAdmission(pod, kNode, {resized("2", "1")}));
  EXPECT_FALSE(CheckAdmission(pod, kNode, {resized("1", "2")}));
}

TEST(CheckAdmissionTest, RejectsAbsurdRequests) {
  const std::string begin = "Node didn't have enough resource: ";
  EXPECT_EQ(ReasonAndMessage(Requesting(R"({"memory": "1e20"})")),
            "OutOfmemory: " + begin +
                "memory, requested: 100000000000000000000, used: 0, capacity: "
                "1073741824");
  EXPECT_EQ(ReasonAndMessage(Requesting(R"({"cpu": "1E"})"), kNode,
                             "[" + Requesting(R"({"cpu": "1e29"})") + "," +
                                 Requesting(R"({"cpu": "1e29"})") + "]"),
            "OutOfcpu: " + begin +
                "cpu, requested: 1000000000000000000000, used: "
                "170141183460469231731687303715885, capacity: 2000");
}

TEST(CheckAdmissionTest, NamesTheResourceThatAKubeletChecksFirst) {
  const std::string large =
      Requesting(R"({"cpu": "4", "ephemeral-storage": "1", "memory": "4Gi"})");
  EXPECT_THAT(ReasonAndMessage(large, kNode, "[{}, {}, {}]"),
              HasSubstr("OutOfpods"));
  EXPECT_THAT(ReasonAndMessage(large), HasSubstr("OutOfcpu"));
  EXPECT_THAT(ReasonAndMessage(
                  Requesting(R"({"ephemeral-storage": "1", "memory": "4Gi"})")),
              HasSubstr("OutOfmemory"));
}

std::string Affine(const std::string& terms) {
  return R"({"affinity": {"nodeAffinity": {
    "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": )" +
         terms + "}}}}";
}

TEST(CheckAdmissionTest, NodesMustMatchThePodsNodeAffinity) {
  const std::string no =
      "NodeAffinity: Predicate NodeAffinity failed: node(s) didn't match Pod's "
      "node affinity/selector";
  struct Case {
    std::string spec;
    bool fits;
  };
  const Case cases[] = {
      {R"({"nodeSelector": {"disk": "ssd"}})", true},
      {R"({"nodeSelector": {"disk": "hdd"}})", false},
      {R"({"nodeSelector": {"other": "ssd"}})", false},
      {Affine(R"([{"matchExpressions": [
         {"key": "size", "operator": "Gt", "values": ["6"]},
         {"key": "disk", "operator": "Exists"}]}])"),
       true},
      {Affine(R"([{"matchExpressions": [
         {"key": "size", "operator": "Gt", "values": ["6"]},
         {"key": "other", "operator": "Exists"}]}])"),
       false},
      {Affine(R"([{}, {"matchFields": [{"key": "metadata.name",
                       "operator": "In", "values": ["n"]}]}])"),
       true},
      {Affine("[{}]"), false},
      // "abc" is not a number, so the term is invalid and matches no node.
      {Affine(R"([{"matchExpressions": [
         {"key": "size", "operator": "Gt", "values": ["abc"]}]}])"),
       false},
      {Affine(R"([{"matchExpressions": [
         {"key": "size", "operator": "Gt", "values": ["abc"]}]},
         {"matchExpressions": [{"key": "disk", "operator": "Exists"}]}])"),
       true},
      {Affine(R"([{"matchFields": [{"key": "metadata.name",
                   "operator": "NotIn", "values": ["n"]}]}])"),
       false},
      // A name may be longer than a label value.
      {Affine(R"([{"matchFields": [{"key": "metadata.name",
                   "operator": "In", "values": [")" +
              std::string(64, 'n') + R"("]}]}])"),
       false},
      {Affine(R"([{"matchFields": [{"key": "metadata.name",
                   "operator": "NotIn", "values": [")" +
              std::string(64, 'n') + R"("]}]}])"),
       true},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(ReasonAndMessage(c.spec), c.fits ? "" : no) << c.spec;
  }
}

TEST(CheckAdmissionTest, AHostPortCanBeUsedOnlyOnce) {
  const auto port = [](const std::string& rest) {
    return R"({"containers": [{"ports": [{"hostPort": 80, "protocol": )" +
           rest + "}]}]}";
  };
  const std::string one = port(R"("TCP", "hostIP": "10.0.0.1")");
  EXPECT_EQ(ReasonAndMessage(port(R"("UDP")"), kNode, "[" + one + "]"), "");
  EXPECT_EQ(ReasonAndMessage(port(R"("TCP", "hostIP": "10.0.0.2")"), kNode,
                             "[" + one + "]"),
            "");
  for (const std::string& other : {one, port(R"("TCP")")}) {
    EXPECT_EQ(ReasonAndMessage(other, kNode, "[" + one + "]"),
              "NodePorts: Predicate NodePorts failed: node(s) didn't have free "
              "ports for the requested pod ports");
  }
}

TEST(CheckAdmissionTest, OnlyUntoleratedNoExecuteTaintsCauseARejection) {
  Json node = kNode;
  EXPECT_EQ(ReasonAndMessage("{}", node), "");
  node["spec"]["taints"][0]["effect"] = "NoExecute";
  EXPECT_THAT(
      ReasonAndMessage("{}", node),
      HasSubstr("TaintToleration: Predicate TaintToleration failed: node(s) "
                "had taints that the pod didn't tolerate"));
  const char* const tolerations[] = {
      R"({"operator": "Exists"})",
      R"({"key": "k", "operator": "Exists", "effect": "NoExecute"})",
      R"({"key": "k", "operator": "Equal", "value": "v"})",
      R"({"key": "k", "value": "v"})"};
  for (const std::string toleration : tolerations) {
    EXPECT_EQ(
        ReasonAndMessage(R"({"tolerations": [)" + toleration + "]}", node), "");
  }
  for (const std::string toleration :
       {R"({"key": "k"})", R"({"key": "j", "operator": "Exists"})",
        R"({"key": "k", "operator": "Exists", "effect": "NoSchedule"})"}) {
    EXPECT_NE(
        ReasonAndMessage(R"({"tolerations": [)" + toleration + "]}", node), "");
  }
}

}  // namespace
}  // namespace minisched::apiserver
