#include <gmock/gmock.h>

#include "lab/apiserver/controllers/cluster_testing.h"

namespace minisched::apiserver {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class KubeletSimulatorTest : public ::testing::Test {
 protected:
  void MakeNode(const std::string& name, const Json& patch = nullptr) {
    Json node = {{"metadata", {{"name", name}}}};
    if (!patch.is_null()) node.merge_patch(patch);
    cluster_.Create("nodes", node);
    cluster_.loop.Run();
  }

  // Creates a pod on node n.
  void MakePod(const std::string& name, const Json& spec = nullptr) {
    Json pod = TestPod(name, {{"spec", {{"nodeName", "n"}}}});
    if (!spec.is_null()) pod["spec"].merge_patch(spec);
    cluster_.Create("pods", pod);
    cluster_.loop.Run();
  }

  void DeletePod(const std::string& name) {
    cluster_.Delete("pods", name);
    cluster_.loop.Run();
  }

  Json StatusOf(const std::string& pod) {
    return cluster_.Get("pods", pod)["status"];
  }

  TestCluster cluster_;
  std::unique_ptr<Controller> kubelets_ =
      NewKubeletSimulator(cluster_.registry);
};

Json Cpu(const std::string& cpu) {
  return {{"containers",
           {{{"name", "c"},
             {"image", "i"},
             {"resources", {{"requests", {{"cpu", cpu}}}}}}}}};
}

TEST_F(KubeletSimulatorTest, NodesBecomeReady) {
  MakeNode("n", {{"status", {{"capacity", {{"cpu", "4"}}}}}});
  const Json status = cluster_.Get("nodes", "n")["status"];
  std::vector<std::string> conditions;
  for (const Json& condition : status["conditions"]) {
    conditions.push_back(GetString(condition, "type") + " " +
                         GetString(condition, "status"));
  }
  EXPECT_THAT(conditions, ElementsAre("Ready True", "MemoryPressure False",
                                      "DiskPressure False", "PIDPressure False",
                                      "NetworkUnavailable False"));
  EXPECT_EQ(status["capacity"], Json({{"cpu", "4"}}));
  EXPECT_EQ(status["nodeInfo"]["kubeletVersion"], "minisched-0.1.0");
  EXPECT_EQ(status["phase"], "Running");
}

TEST_F(KubeletSimulatorTest, KeepsTheStatusFieldsThatANodeSets) {
  MakeNode("n", {{"status",
                  {{"allocatable", {{"cpu", "3"}}},
                   {"nodeInfo", {{"kubeletVersion", "v1.30.0"}}}}}});
  const Json status = cluster_.Get("nodes", "n")["status"];
  EXPECT_EQ(status["allocatable"], Json({{"cpu", "3"}}));
  EXPECT_EQ(status["capacity"],
            Json({{"cpu", "1k"}, {"memory", "1Ti"}, {"pods", "1M"}}));
  EXPECT_EQ(status["nodeInfo"]["kubeletVersion"], "v1.30.0");
  EXPECT_EQ(status["nodeInfo"]["architecture"], "amd64");
}

TEST_F(KubeletSimulatorTest, NodesHaveALease) {
  MakeNode("n");
  const Json lease = cluster_.Get("leases", "n", "kube-node-lease");
  EXPECT_EQ(lease["spec"]["holderIdentity"], "n");
  EXPECT_EQ(lease["metadata"]["ownerReferences"][0]["uid"],
            UidOf(cluster_.Get("nodes", "n")));
}

// Returns the keys of the node's taints.
std::vector<std::string> TaintsOf(const Json& node) {
  std::vector<std::string> keys;
  for (const Json& taint : Get(node, "spec", "taints")) {
    keys.push_back(GetString(taint, "key"));
  }
  return keys;
}

TEST_F(KubeletSimulatorTest, CordonedNodesAreTainted) {
  MakeNode("n");
  const auto cordon = [&](const Json& unschedulable) {
    cluster_.Patch("nodes", "n",
                   {{"spec", {{"unschedulable", unschedulable}}}});
    cluster_.loop.Run();
    return cluster_.Get("nodes", "n");
  };
  EXPECT_EQ(cordon(true)["spec"]["taints"],
            Json::array({{{"key", "node.kubernetes.io/unschedulable"},
                          {"effect", "NoSchedule"},
                          {"timeAdded", cluster_.registry.Now()}}}));
  EXPECT_THAT(TaintsOf(cordon(nullptr)), IsEmpty());
}

TEST_F(KubeletSimulatorTest, PressureConditionsBecomeTaints) {
  MakeNode(
      "n",
      {{"spec", {{"taints", {{{"key", "mine"}, {"effect", "NoSchedule"}}}}}}});
  const auto set_pressure = [&](const char* status) {
    Json node = cluster_.Get("nodes", "n");
    SetCondition(node["status"]["conditions"],
                 {{"type", "DiskPressure"}, {"status", status}},
                 cluster_.registry.Now());
    cluster_.Patch("nodes", "n", {{"status", node["status"]}}, "status");
    cluster_.loop.Run();
    return cluster_.Get("nodes", "n");
  };
  EXPECT_THAT(TaintsOf(set_pressure("True")),
              ElementsAre("mine", "node.kubernetes.io/disk-pressure"));
  EXPECT_THAT(TaintsOf(set_pressure("False")), ElementsAre("mine"));
}

TEST_F(KubeletSimulatorTest, PodsOfAMissingNodeAreDeletedAfter40Seconds) {
  MakeNode("n");
  MakePod("p");
  MakePod("lost", {{"nodeName", "never-there"}});
  cluster_.Delete("nodes", "n");
  cluster_.loop.Advance(std::chrono::seconds(39));
  EXPECT_THAT(cluster_.Names("pods"), ElementsAre("lost", "p"));
  cluster_.loop.Advance(std::chrono::seconds(1));
  EXPECT_THAT(cluster_.Names("pods"), IsEmpty());
}

TEST_F(KubeletSimulatorTest, TheNextPodOfAMissingNodeWaits40SecondsAgain) {
  MakePod("lost", {{"nodeName", "never-there"}});
  cluster_.loop.Advance(std::chrono::seconds(30));
  cluster_.Delete("pods", "lost", {.grace_period = 0});
  cluster_.loop.Advance(std::chrono::seconds(30));
  MakePod("again", {{"nodeName", "never-there"}});
  cluster_.loop.Advance(std::chrono::seconds(39));
  EXPECT_THAT(cluster_.Names("pods"), ElementsAre("again"));
  cluster_.loop.Advance(std::chrono::seconds(1));
  EXPECT_THAT(cluster_.Names("pods"), IsEmpty());
}

TEST_F(KubeletSimulatorTest, ANodeThatComesBackInTimeKeepsItsPods) {
  MakeNode("n");
  MakePod("p");
  cluster_.Delete("nodes", "n");
  cluster_.loop.Advance(std::chrono::seconds(30));
  MakeNode("n");
  cluster_.loop.Advance(std::chrono::seconds(5));
  cluster_.Delete("nodes", "n");  // restarts the 40 seconds
  cluster_.loop.Advance(std::chrono::seconds(39));
  EXPECT_THAT(cluster_.Names("pods"), ElementsAre("p"));
  MakeNode("n");
  cluster_.loop.Advance(std::chrono::seconds(60));
  EXPECT_FALSE(IsTerminating(cluster_.Get("pods", "p")));
}

TEST_F(KubeletSimulatorTest, PodsRunWhenTheirNodeIsReady) {
  MakePod("p", {{"initContainers", {{{"name", "first"}, {"image", "i"}}}}});
  EXPECT_EQ(StatusOf("p")["phase"], "Pending");
  MakeNode(
      "n",
      {{"status",
        {{"addresses", {{{"type", "InternalIP"}, {"address", "10.9.9.9"}}}}}}});
  const Json status = StatusOf("p");
  EXPECT_EQ(status["phase"], "Running");
  EXPECT_EQ(status["hostIPs"], Json::parse(R"([{"ip": "10.9.9.9"}])"));
  EXPECT_EQ(status["podIP"], "10.0.0.1");
  EXPECT_EQ(status["podIPs"], Json::parse(R"([{"ip": "10.0.0.1"}])"));
  EXPECT_EQ(status["startTime"], cluster_.registry.Now());
  for (const char* type : {"Initialized", "Ready", "ContainersReady"}) {
    EXPECT_EQ(FindBy(status["conditions"], "type", type)["status"], "True");
  }
  const Json& container = status["containerStatuses"][0];
  EXPECT_EQ(container["ready"], true);
  EXPECT_EQ(container["state"]["running"]["startedAt"],
            cluster_.registry.Now());
  EXPECT_EQ(status["initContainerStatuses"][0]["state"]["terminated"]["reason"],
            "Completed");
}

TEST_F(KubeletSimulatorTest, EachPodHasItsOwnAddress) {
  MakeNode("n");
  MakePod("a");
  MakePod("b");
  EXPECT_EQ(StatusOf("a")["podIP"], "10.0.0.1");
  EXPECT_EQ(StatusOf("b")["podIP"], "10.0.0.2");
}

TEST_F(KubeletSimulatorTest, DeletedPodsAreRemovedAtOnce) {
  MakeNode("n");
  MakePod("p");
  DeletePod("p");
  EXPECT_THAT(cluster_.Names("pods"), IsEmpty());
}

TEST_F(KubeletSimulatorTest, FinalizersKeepDeletedPods) {
  MakeNode("n");
  MakePod("p");
  cluster_.Patch("pods", "p",
                 {{"metadata", {{"finalizers", {"example.com/wait"}}}}});
  DeletePod("p");
  EXPECT_THAT(cluster_.Names("pods"), ElementsAre("p"));
  cluster_.Patch("pods", "p", {{"metadata", {{"finalizers", nullptr}}}});
  cluster_.loop.Run();
  EXPECT_THAT(cluster_.Names("pods"), IsEmpty());
}

TEST_F(KubeletSimulatorTest, PodsThatDoNotFitFail) {
  MakeNode("n", {{"status", {{"capacity", {{"cpu", "2"}, {"pods", "9"}}}}}});
  MakePod("a", Cpu("1500m"));
  MakePod("b", Cpu("1"));
  EXPECT_EQ(StatusOf("a")["phase"], "Running");
  const Json status = StatusOf("b");
  EXPECT_EQ(status["phase"], "Failed");
  EXPECT_EQ(status["reason"], "OutOfcpu");
  EXPECT_EQ(status["message"],
            "Pod was rejected: Node didn't have enough resource: cpu, "
            "requested: 1000, used: 1500, capacity: 2000");
  EXPECT_THAT(cluster_.Events("Pod"),
              ElementsAre("OutOfcpu: Node didn't have enough resource: cpu, "
                          "requested: 1000, used: 1500, capacity: 2000"));
}

TEST_F(KubeletSimulatorTest, DeletedAndFinishedPodsFreeTheirResources) {
  MakeNode("n", {{"status", {{"capacity", {{"cpu", "2"}, {"pods", "9"}}}}}});
  MakePod("a", Cpu("2"));
  DeletePod("a");
  MakePod("b", Cpu("2"));
  EXPECT_EQ(StatusOf("b")["phase"], "Running");
  cluster_.Patch("pods", "b", {{"status", {{"phase", "Succeeded"}}}}, "status");
  cluster_.loop.Run();
  MakePod("a", Cpu("2"));
  EXPECT_EQ(StatusOf("a")["phase"], "Running");
}

TEST_F(KubeletSimulatorTest, ANewSimulatorDoesNotChangeRunningPods) {
  MakeNode("n", {{"status", {{"capacity", {{"cpu", "2"}, {"pods", "9"}}}}}});
  MakePod("a", Cpu("2"));
  const Json before = cluster_.Get("pods", "a");
  const auto second = NewKubeletSimulator(cluster_.registry);
  cluster_.loop.Run();
  EXPECT_EQ(cluster_.Get("pods", "a"), before);
}

}  // namespace
}  // namespace minisched::apiserver
