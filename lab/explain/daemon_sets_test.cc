#include "lab/explain/daemon_sets.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "lab/explain/objects.h"
#include "lab/explain/trial.h"
#include "minisched/api/document.h"

namespace minisched::explain {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Json = nlohmann::json;

Json DaemonSet(const std::string& name, const Json& spec) {
  return {{"apiVersion", "apps/v1"},
          {"kind", "DaemonSet"},
          {"metadata", {{"name", name}, {"namespace", "kube-system"}}},
          {"spec",
           {{"template",
             {{"metadata", {{"labels", {{"app", name}}}}}, {"spec", spec}}}}}};
}

Json NodeWith(const Json& taints, const Json& labels = Json::object()) {
  return {{"apiVersion", "v1"},
          {"kind", "Node"},
          {"metadata", {{"name", "new"}, {"labels", labels}}},
          {"spec", {{"taints", taints}}}};
}

const Json kContainers = {{{"name", "c"}, {"image", "i"}}};

// Returns the pods of a new node in a cluster with these objects.
std::vector<Json> PodsFor(const Json& node, const std::vector<Json>& cluster) {
  Objects objects;
  for (const Json& object : cluster) objects.Add(object, "dump");
  Copy copy(objects.SelectFor({"default", "web"}, "").manifests);
  return DaemonPodsFor(node, copy.server());
}

std::vector<std::string> NamesFor(const Json& node,
                                  const std::vector<Json>& cluster) {
  std::vector<std::string> names;
  for (const Json& pod : PodsFor(node, cluster)) {
    names.push_back(pod["metadata"]["name"]);
  }
  return names;
}

TEST(DaemonSetsTest, RunOnNodesThatTheySelectAndTolerate) {
  const std::vector<Json> cluster = {
      DaemonSet("all", {{"containers", kContainers}}),
      DaemonSet("gpu", {{"nodeSelector", {{"gpu", "yes"}}},
                        {"containers", kContainers}}),
      DaemonSet("net", {{"hostNetwork", true}, {"containers", kContainers}})};
  const auto taint = [](const std::string& key) {
    return Json::array({{{"key", key}, {"effect", "NoSchedule"}}});
  };
  EXPECT_THAT(NamesFor(NodeWith(nullptr), cluster),
              ElementsAre("all-new", "net-new"));
  EXPECT_THAT(NamesFor(NodeWith(nullptr, {{"gpu", "yes"}}), cluster),
              ElementsAre("all-new", "gpu-new", "net-new"));
  EXPECT_THAT(NamesFor(NodeWith(taint("team")), cluster), IsEmpty());
  // The controller's own tolerations.
  for (const char* key :
       {"unschedulable", "memory-pressure", "disk-pressure", "pid-pressure"}) {
    EXPECT_THAT(
        NamesFor(NodeWith(taint(std::string("node.kubernetes.io/") + key)),
                 cluster),
        ElementsAre("all-new", "net-new"));
  }
  EXPECT_THAT(
      NamesFor(NodeWith(taint("node.kubernetes.io/network-unavailable")),
               cluster),
      ElementsAre("net-new"));
}

TEST(DaemonSetsTest, MayBeKnownOnlyByTheirPods) {
  Json pod = {{"apiVersion", "v1"},
              {"kind", "Pod"},
              {"metadata",
               {{"name", "agent-x7"},
                {"namespace", "kube-system"},
                {"ownerReferences",
                 {{{"apiVersion", "apps/v1"},
                   {"kind", "DaemonSet"},
                   {"name", "agent"},
                   {"uid", "u"},
                   {"controller", true}}}}}},
              {"spec",
               {{"nodeName", "old"},
                {"priority", 2000001000},
                {"priorityClassName", "mine"},
                {"containers", kContainers}}}};
  PinToNode(pod["spec"], "old");
  const auto pods = PodsFor(NodeWith(nullptr), {pod});
  ASSERT_EQ(pods.size(), 1);
  EXPECT_EQ(pods[0]["metadata"]["name"], "agent-new");
  EXPECT_EQ(pods[0]["metadata"]["namespace"], "kube-system");
  EXPECT_EQ(pods[0]["spec"]["nodeName"], "new");
  EXPECT_FALSE(pods[0]["spec"].contains("priority"));
  EXPECT_FALSE(pods[0]["spec"]["affinity"].contains("nodeAffinity"));
  EXPECT_TRUE(ComesBack(FromDocument<Pod>(pods[0]).metadata));
}

// A node that a step creates gets the pods of DaemonSets.
TEST(DaemonSetsTest, RunOnANodeThatAStepCreates) {
  Objects objects;
  objects.Add(DaemonSet("all", {{"containers", kContainers}}), "dump");
  objects.Add({{"apiVersion", "v1"},
               {"kind", "Pod"},
               {"metadata", {{"name", "web"}, {"namespace", "default"}}},
               {"spec", {{"containers", kContainers}}}},
              "dump");
  const Experiment experiment{
      .pod = {"default", "web"},
      .scheduler_name = "minisched",
      .objects = objects.SelectFor({"default", "web"}, ""),
      .steps = scenario::ParseSteps(Json{{"create", NodeWith(nullptr)}}.dump(),
                                    "--what-if")};
  Trial trial(experiment, {}, {});
  EXPECT_EQ(
      trial.client().Get<Pod>("kube-system", "all-new", {})->spec.node_name,
      "new");
}

}  // namespace
}  // namespace minisched::explain
