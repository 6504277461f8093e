#include "lab/explain/volume_rules.h"

#include <gmock/gmock.h>

#include "minisched/api/json.h"

namespace minisched::explain {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The pod default/web, whose claim data is bound to the volume disk, and the
// nodes a-1 and b-1 in the zones a and b.
class VolumeRulesTest : public ::testing::Test {
 protected:
  VolumeRulesTest() {
    AddNode("a-1", "a");
    AddNode("b-1", "b");
    objects_.claims[{"default", "data"}] = FromJson<PersistentVolumeClaim>(
        R"({"metadata": {"name": "data", "namespace": "default",
             "annotations": {"pv.kubernetes.io/bind-completed": "yes"}},
            "spec": {"volumeName": "disk"}})");
    objects_.volumes["disk"].metadata.name = "disk";
  }

  std::vector<std::string> Causes(const std::string& plugin,
                                  const std::string& node = "a-1") {
    const VolumeRules rules(pod_, nodes_, objects_);
    return rules.CausesOf(nodes_.at(node).node, plugin);
  }

  void AddNode(const std::string& name, const std::string& zone) {
    Node node;
    node.metadata.name = name;
    node.metadata.labels = {{"kubernetes.io/hostname", name}};
    if (!zone.empty()) {
      node.metadata.labels["topology.kubernetes.io/zone"] = zone;
    }
    nodes_.emplace(name, node);
  }
  void AddPod(const std::string& node, const std::string& spec) {
    nodes_.at(node).AddPod(FromJson<Pod>(
        R"({"metadata": {"name": "db", "namespace": "default"}, "spec": )" +
        spec + "}"));
  }
  // Sets the required terms of the volume's node affinity.
  void Require(const std::string& terms) {
    objects_.volumes["disk"] = FromJson<PersistentVolume>(
        R"({"metadata": {"name": "disk"}, "spec": {"nodeAffinity": {"required":
            {"nodeSelectorTerms": )" +
        terms + "}}}}");
  }

  NodeStates nodes_;
  VolumeObjects objects_;
  Pod pod_ = FromJson<Pod>(
      R"({"metadata": {"name": "web", "namespace": "default"},
          "spec": {"volumes": [{"name": "v", "persistentVolumeClaim":
                                {"claimName": "data"}}]}})");
};

constexpr char kInB[] =
    R"([{"matchExpressions": [{"key": "topology.kubernetes.io/zone",
         "operator": "In", "values": ["b"]}]}])";

TEST_F(VolumeRulesTest, NamesTheZoneOfTheVolumeAndItsNodes) {
  Require(kInB);
  EXPECT_THAT(Causes("VolumeBinding"),
              ElementsAre("claim data has its volume disk in zone b (b-1), the "
                          "node is in zone a"));
  EXPECT_THAT(Causes("VolumeBinding", "b-1"), IsEmpty());
  EXPECT_THAT(Causes("VolumeZone"), IsEmpty());
  AddNode("c-1", "");
  EXPECT_THAT(Causes("VolumeBinding", "c-1"),
              ElementsAre("claim data has its volume disk in zone b (b-1), the "
                          "node has no label topology.kubernetes.io/zone"));
}

TEST_F(VolumeRulesTest, SaysThatNoNodeIsThere) {
  Require(kInB);
  nodes_.erase("b-1");
  EXPECT_THAT(Causes("VolumeBinding"),
              ElementsAre("claim data has its volume disk in zone b, and no "
                          "node is there"));
}

TEST_F(VolumeRulesTest, NamesTheNodeOfALocalVolume) {
  Require(R"([{"matchExpressions": [{"key": "kubernetes.io/hostname",
               "operator": "In", "values": ["b-1"]}]}])");
  EXPECT_THAT(Causes("VolumeBinding"),
              ElementsAre("claim data has its volume disk on b-1"));
}

TEST_F(VolumeRulesTest, ShowsOtherRequirements) {
  Require(R"([{"matchExpressions": [
      {"key": "disk", "operator": "In", "values": ["ssd"]},
      {"key": "old", "operator": "DoesNotExist"}]}])");
  EXPECT_THAT(Causes("VolumeBinding"),
              ElementsAre("claim data has its volume disk where disk is ssd, "
                          "where old DoesNotExist, and no node is there"));
}

TEST_F(VolumeRulesTest, AZoneLabelOfTheVolumeCounts) {
  Labels& labels = objects_.volumes["disk"].metadata.labels;
  labels["failure-domain.beta.kubernetes.io/zone"] = "b__c";
  EXPECT_THAT(Causes("VolumeZone"),
              ElementsAre("claim data has its volume disk in zone b or c "
                          "(b-1), the node is in zone a"));
  EXPECT_THAT(Causes("VolumeZone", "b-1"), IsEmpty());
  EXPECT_THAT(Causes("VolumeBinding"), IsEmpty());
}

TEST_F(VolumeRulesTest, NamesThePodThatUsesAClaimForOnePod) {
  const std::string spec =
      R"({"volumes": [{"name": "v", "persistentVolumeClaim":
                       {"claimName": "data"}}]})";
  AddPod("b-1", spec);
  EXPECT_THAT(Causes("VolumeRestrictions"), IsEmpty());
  objects_.claims[{"default", "data"}].spec.access_modes = {"ReadWriteOncePod"};
  EXPECT_THAT(Causes("VolumeRestrictions"),
              ElementsAre("the claim data (ReadWriteOncePod) is in use by "
                          "default/db on b-1"));
}

TEST_F(VolumeRulesTest, NamesThePodThatHasTheDisk) {
  const std::string spec =
      R"({"volumes": [{"name": "v", "gcePersistentDisk": {"pdName": "pd-1"}},
                      {"name": "w", "emptyDir": {}}]})";
  pod_ =
      FromJson<Pod>(R"({"metadata": {"name": "web"}, "spec": )" + spec + "}");
  AddPod("b-1", spec);
  EXPECT_THAT(Causes("VolumeRestrictions", "b-1"),
              ElementsAre("the disk pd-1 is in use by default/db"));
  EXPECT_THAT(Causes("VolumeRestrictions"), IsEmpty());
}

TEST_F(VolumeRulesTest, AnEphemeralVolumeMayHaveLostItsVolume) {
  objects_.volumes.clear();
  EXPECT_THAT(Causes("VolumeBinding"),
              ElementsAre("claim data has the volume disk, which does not "
                          "exist"));
}

}  // namespace
}  // namespace minisched::explain
