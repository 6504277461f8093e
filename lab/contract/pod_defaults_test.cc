// Defaults that the server sets in a pod.

#include "lab/contract/pod_testing.h"

namespace minisched {
namespace {

using PodDefaultsTest = PodContractTest;

constexpr char kNotReady[] = "node.kubernetes.io/not-ready";
constexpr char kUnreachable[] = "node.kubernetes.io/unreachable";

// Returns the toleration that the server adds for the taint `key`: five
// minutes.
json DefaultToleration(const char* key) {
  return {{"key", key},
          {"operator", "Exists"},
          {"effect", "NoExecute"},
          {"tolerationSeconds", 300}};
}

// Returns the reply with the pod's first container as the body.
Reply ContainerOf(Reply reply) {
  reply.body = reply.body.at("spec").at("containers").at(0);
  return reply;
}

TEST_F(PodDefaultsTest, SetsAllDefaultsOfTheSpec) {
  EXPECT_EQ(Try(json::object()).body.at("spec"), R"({
    "containers": [{"name": "c", "image": "i", "resources": {},
                    "terminationMessagePath": "/dev/termination-log",
                    "terminationMessagePolicy": "File",
                    "imagePullPolicy": "Always"}],
    "restartPolicy": "Always",
    "terminationGracePeriodSeconds": 30,
    "dnsPolicy": "ClusterFirst",
    "securityContext": {},
    "schedulerName": "contract",
    "tolerations": [
      {"key": "node.kubernetes.io/not-ready", "operator": "Exists",
       "effect": "NoExecute", "tolerationSeconds": 300},
      {"key": "node.kubernetes.io/unreachable", "operator": "Exists",
       "effect": "NoExecute", "tolerationSeconds": 300}],
    "priority": 0,
    "enableServiceLinks": true,
    "preemptionPolicy": "PreemptLowerPriority"})"_json);
}

TEST_F(PodDefaultsTest, ResetsTheStatus) {
  const Reply reply = Post("pods", Pod("p", R"({"status": {
    "phase": "Running", "nominatedNodeName": "n"}})"_json));
  EXPECT_THAT(reply, Answers(201, R"({"metadata": {"generation": 1}})"_json));
  EXPECT_EQ(reply.body.at("status"),
            R"({"phase": "Pending", "qosClass": "BestEffort"})"_json);
}

TEST_F(PodDefaultsTest, SetsTheSchedulerName) {
  EXPECT_THAT(Try({{"schedulerName", nullptr}}),
              Answers(201, R"({"spec": {"schedulerName":
                                        "default-scheduler"}})"_json));
  EXPECT_THAT(Try({{"schedulerName", ""}}),
              Answers(201, R"({"spec": {"schedulerName":
                                        "default-scheduler"}})"_json));
}

TEST_F(PodDefaultsTest, ANegativeGracePeriodBecomesOneSecond) {
  EXPECT_THAT(Try({{"terminationGracePeriodSeconds", -5}}),
              Answers(201, R"({"spec": {"terminationGracePeriodSeconds":
                                        1}})"_json));
}

TEST_F(PodDefaultsTest, ImagePullPolicyFollowsTheTag) {
  const auto pulled = [](const char* policy) {
    return Answers(201, {{"imagePullPolicy", policy}});
  };
  EXPECT_THAT(ContainerOf(TryContainer({{"image", "a"}})), pulled("Always"));
  EXPECT_THAT(ContainerOf(TryContainer({{"image", "a:latest"}})),
              pulled("Always"));
  EXPECT_THAT(ContainerOf(TryContainer({{"image", "a:1"}})),
              pulled("IfNotPresent"));
  EXPECT_THAT(ContainerOf(TryContainer({{"image", "r:5000/a"}})),
              pulled("Always"));
  EXPECT_THAT(ContainerOf(TryContainer(
                  {{"image", "a@sha256:" + std::string(64, '0')}})),
              pulled("IfNotPresent"));
}

TEST_F(PodDefaultsTest, RequestsDefaultToLimits) {
  EXPECT_THAT(ContainerOf(TryContainer(R"({"resources": {
                "limits": {"cpu": "1"}, "requests": {"memory": "1Gi"}}})"_json)),
              Answers(201, R"({"resources": {
                "limits": {"cpu": "1", "memory": null},
                "requests": {"cpu": "1", "memory": "1Gi"}}})"_json));
}

TEST_F(PodDefaultsTest, WritesQuantitiesInCanonicalForm) {
  EXPECT_THAT(ContainerOf(TryContainer(R"({"resources": {"requests": {
        "cpu": "0.5", "memory": "1024Mi", "ephemeral-storage": "1000k"}}})"_json)),
              Answers(201, R"({"resources": {"requests": {
        "cpu": "500m", "memory": "1Gi", "ephemeral-storage": "1M"}}})"_json));
  EXPECT_THAT(ContainerOf(TryContainer(R"({"resources": {"requests": {
        "cpu": 2, "memory": 1000}}})"_json)),
              Answers(201, R"({"resources": {"requests": {
        "cpu": "2", "memory": "1k"}}})"_json));
  // The server rounds quantities up to a thousandth.
  EXPECT_THAT(ContainerOf(TryContainer(
                  R"({"resources": {"requests": {"cpu": "0.0001"}}})"_json)),
              Answers(201, R"({"resources": {"requests":
                               {"cpu": "1m"}}})"_json));
}

TEST_F(PodDefaultsTest, ComputesTheQosClass) {
  const auto class_is = [](const char* name) {
    return Answers(201, {{"status", {{"qosClass", name}}}});
  };
  EXPECT_THAT(TryContainer(json::object()), class_is("BestEffort"));
  EXPECT_THAT(
      TryContainer(
          R"({"resources": {"limits": {"example.com/gpu": "1"}}})"_json),
      class_is("BestEffort"));
  EXPECT_THAT(TryContainer(R"({"resources": {"requests": {"cpu": "1"}}})"_json),
              class_is("Burstable"));
  EXPECT_THAT(TryContainer(R"({"resources": {"limits": {"cpu": "1"}}})"_json),
              class_is("Burstable"));
  EXPECT_THAT(TryContainer(R"({"resources": {"limits": {
                "cpu": "1", "memory": "1Gi"}}})"_json),
              class_is("Guaranteed"));
  EXPECT_THAT(TryContainer(R"({"resources": {
                "limits": {"cpu": "1", "memory": "1Gi"},
                "requests": {"cpu": "1", "memory": "1Mi"}}})"_json),
              class_is("Burstable"));
}

TEST_F(PodDefaultsTest, AddsTolerationsForUnhealthyNodes) {
  const auto tolerates = [](const json& list) {
    return Answers(201, {{"spec", {{"tolerations", list}}}});
  };
  EXPECT_THAT(
      Try(R"({"tolerations": [{"key": "k", "operator": "Exists"}]})"_json),
      tolerates({{{"key", "k"}},
                 DefaultToleration(kNotReady),
                 DefaultToleration(kUnreachable)}));
  EXPECT_THAT(Try({{"tolerations",
                    {{{"key", kNotReady},
                      {"operator", "Exists"},
                      {"effect", "NoExecute"}}}}}),
              tolerates({{{"key", kNotReady}, {"tolerationSeconds", nullptr}},
                         DefaultToleration(kUnreachable)}));
  // A pod that tolerates all taints gets no further tolerations.
  EXPECT_THAT(Try(R"({"tolerations": [{"operator": "Exists"}]})"_json),
              tolerates({{{"operator", "Exists"}}}));
}

TEST_F(PodDefaultsTest, GatesSetThePodScheduledCondition) {
  EXPECT_THAT(Try(R"({"schedulingGates": [{"name": "g"}]})"_json),
              Answers(201, R"({
                "spec": {"schedulingGates": [{"name": "g"}]},
                "status": {"phase": "Pending", "conditions": [
                  {"type": "PodScheduled", "status": "False",
                   "reason": "SchedulingGated", "lastTransitionTime": "...",
                   "message": "Scheduling is blocked due to non-empty scheduling gates"
                  }]}})"_json));
}

TEST_F(PodDefaultsTest, ANodeNameSetsNoCondition) {
  EXPECT_THAT(Try({{"nodeName", "contract-nowhere"}}), Answers(201, R"({
                "spec": {"nodeName": "contract-nowhere"},
                "status": {"phase": "Pending", "conditions": null}})"_json));
}

TEST_F(PodDefaultsTest, PortsDefaultToTcp) {
  EXPECT_THAT(
      ContainerOf(TryContainer(R"({"ports": [{"containerPort": 80}]})"_json)),
      Answers(201, R"({"ports": [{"containerPort": 80, "protocol": "TCP",
                                  "hostPort": null}]})"_json));
}

TEST_F(PodDefaultsTest, HostNetworkSetsHostPorts) {
  EXPECT_THAT(Try(R"({"hostNetwork": true, "containers": [{"name": "c",
                      "image": "i", "ports": [{"containerPort": 80}]}]})"_json),
              Answers(201, R"({"spec": {"containers": [
                {"ports": [{"containerPort": 80, "hostPort": 80}]}]}})"_json));
}

}  // namespace
}  // namespace minisched
