// Cases from upstream's volume_binding_test.go keep their names.
#include "plugins/volume_binding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "tests/default_framework_testing.h"
#include "tests/hints_testing.h"
#include "tests/volume_binder_testing.h"

namespace minisched {
namespace {

constexpr char kNoVolume[] =
    "Filter: UnschedulableAndUnresolvable: node(s) unavailable due to one or "
    "more pvc(s) bound to non-existent pv(s)";
constexpr char kOtherNodes[] =
    "Filter: UnschedulableAndUnresolvable: node(s) didn't match "
    "PersistentVolume's node affinity";

// ---- TestVolumeBinding, as far as claims are bound.

struct BindingCase {
  const char* name;
  VolumeObjects objects;
  std::vector<std::string> claims;
  std::string verdict;
};

std::ostream& operator<<(std::ostream& out, const BindingCase& test) {
  return out << test.name;
}

class VolumeBindingTest : public ::testing::TestWithParam<BindingCase> {};

TEST_P(VolumeBindingTest, Verdict) {
  const VolumeCluster cluster(GetParam().objects);
  const NodeInfo node = NodeWithPods(NodeWithLabels({{"foo", "bar"}}), {});
  EXPECT_EQ(Verdict<VolumeBinding>(
                cluster, PodWithClaims("pod-a", GetParam().claims), node),
            GetParam().verdict);
}

const std::string kRejected = "UnschedulableAndUnresolvable: ";

INSTANTIATE_TEST_SUITE_P(
    Upstream, VolumeBindingTest,
    ::testing::Values(
        BindingCase{"pod has not pvcs", {}, {}, "Skip"},
        BindingCase{"all bound",
                    {.claims = {Claim("pvc-a", {.volume = "pv-a"})},
                     .volumes = {VolumeOf("pv-a")}},
                    {"pvc-a"},
                    "Filter: Success"},
        BindingCase{"PVC does not exist",
                    {},
                    {"pvc-a"},
                    kRejected + "persistentvolumeclaim \"pvc-a\" not found"},
        BindingCase{"Part of PVCs do not exist",
                    {.claims = {Claim("pvc-a", {.volume = "pv-a"})}},
                    {"pvc-a", "pvc-b"},
                    kRejected + "persistentvolumeclaim \"pvc-b\" not found"},
        BindingCase{
            "immediate claims not bound",
            {.claims = {Claim("pvc-a")}},
            {"pvc-a"},
            kRejected + "pod has unbound immediate PersistentVolumeClaims"},
        BindingCase{"pv not found",
                    {.claims = {Claim("pvc-a", {.volume = "pv-a"})}},
                    {"pvc-a"},
                    kNoVolume},
        BindingCase{
            "pv not found claim lost",
            {.claims = {Claim("pvc-a", {.volume = "pv-a", .phase = "Lost"})}},
            {"pvc-a"},
            kRejected + "persistentvolumeclaim \"pvc-a\" bound to non-existent "
                        "persistentvolume \"pv-a\""}),
    [](const auto& info) {
      std::string name = info.param.name;
      std::erase(name, ' ');
      return name;
    });

INSTANTIATE_TEST_SUITE_P(
    Ours, VolumeBindingTest,
    ::testing::Values(
        BindingCase{
            "IsBeingDeleted",
            {.claims = {Claim("pvc-a", {.volume = "pv-a", .deleting = true})},
             .volumes = {VolumeOf("pv-a")}},
            {"pvc-a"},
            kRejected + "persistentvolumeclaim \"pvc-a\" is being deleted"},
        BindingCase{
            "TheBindingIsNotCompleted",
            {.claims = {Claim("pvc-a", {.volume = "pv-a", .completed = false})},
             .volumes = {VolumeOf("pv-a")}},
            {"pvc-a"},
            kRejected + "pod has unbound immediate PersistentVolumeClaims"},
        BindingCase{"AMissingClaimCountsMoreThanAnUnboundOne",
                    {.claims = {Claim("pvc-a")}},
                    {"pvc-a", "pvc-b"},
                    kRejected + "persistentvolumeclaim \"pvc-b\" not found"},
        BindingCase{"NodeMatches",
                    {.claims = {Claim("pvc-a", {.volume = "pv-a"})},
                     .volumes = {VolumeOn("pv-a", "foo", {"baz", "bar"})}},
                    {"pvc-a"},
                    "Filter: Success"},
        BindingCase{"NodeDoesNotMatch",
                    {.claims = {Claim("pvc-a", {.volume = "pv-a"})},
                     .volumes = {VolumeOn("pv-a", "foo", {"baz"})}},
                    {"pvc-a"},
                    kOtherNodes},
        BindingCase{"TheFirstProblemCounts",
                    {.claims = {Claim("pvc-a", {.volume = "pv-a"}),
                                Claim("pvc-b", {.volume = "pv-b"})},
                     .volumes = {VolumeOn("pv-b", "foo", {"baz"})}},
                    {"pvc-b", "pvc-a"},
                    kOtherNodes},
        BindingCase{"TheOtherWayRound",
                    {.claims = {Claim("pvc-a", {.volume = "pv-a"}),
                                Claim("pvc-b", {.volume = "pv-b"})},
                     .volumes = {VolumeOn("pv-b", "foo", {"baz"})}},
                    {"pvc-a", "pvc-b"},
                    kNoVolume}),
    [](const auto& info) { return std::string(info.param.name); });

// As upstream, which compares nothing but labels.
TEST(VolumeBindingPluginTest, AVolumeCannotSelectTheNameOfANode) {
  PersistentVolume volume = VolumeOf("pv-a");
  volume.spec.node_affinity.emplace().required =
      NodeSelector{{{.match_fields = {{"metadata.name", "In", {"node-2"}}}}}};
  const VolumeCluster cluster(
      {.claims = {Claim("pvc-a", {.volume = "pv-a"})}, .volumes = {volume}});
  EXPECT_EQ(Verdict<VolumeBinding>(cluster, PodWithClaims("p", {"pvc-a"}),
                                   cluster.node()),
            "Filter: Success");
}

TEST(VolumeBindingPluginTest, AnEphemeralVolumeHasAClaimOfItsOwn) {
  Pod pod = PodWithVolume("pod-a", {.name = "v", .ephemeral = {{}}});
  const auto verdict = [&](std::vector<PersistentVolumeClaim> claims) {
    const VolumeCluster cluster(
        {.claims = std::move(claims), .volumes = {VolumeOf("pv-a")}});
    return Verdict<VolumeBinding>(cluster, pod, cluster.node());
  };
  EXPECT_EQ(verdict({}),
            kRejected +
                "waiting for ephemeral volume controller to create the "
                "persistentvolumeclaim \"pod-a-v\"");
  PersistentVolumeClaim claim = Claim("pod-a-v", {.volume = "pv-a"});
  EXPECT_EQ(verdict({claim}), kRejected +
                                  "PVC default/pod-a-v was not created for pod "
                                  "default/pod-a (pod is not owner)");
  claim.metadata.owner_references = {
      {.uid = pod.metadata.uid, .controller = true}};
  EXPECT_EQ(verdict({claim}), "Filter: Success");
}

// ---- Events and hints.

TEST(VolumeBindingPluginTest, RegistersTheEventsThatHelpClaims) {
  EXPECT_THAT(EventsOf(NewDefaultFramework(), "VolumeBinding"),
              ::testing::ElementsAre(
                  "storage.k8s.io/StorageClass/Add "
                  "storage.k8s.io/StorageClass/Update with a hint",
                  "PersistentVolumeClaim/Add PersistentVolumeClaim/Update "
                  "with a hint",
                  "PersistentVolume/Add PersistentVolume/Update",
                  "Node/Add Node/UpdateNodeLabel",
                  "storage.k8s.io/CSIDriver/Update with a hint",
                  "storage.k8s.io/CSIStorageCapacity/Add "
                  "storage.k8s.io/CSIStorageCapacity/Update with a hint"));
}

// TestIsSchedulableAfterPersistentVolumeClaimChange.
TEST(VolumeBindingPluginTest, AfterAClaimChange) {
  const VolumeCluster cluster({});
  const VolumeBinding plugin(cluster.handle());
  const auto hint = [&](const Pod& pod, PersistentVolumeClaim claim) {
    const auto now =
        std::make_shared<const PersistentVolumeClaim>(std::move(claim));
    return HintAfter(plugin, pod,
                     {{EventResource::kPersistentVolumeClaim, action::kUpdate}},
                     now, now);
  };
  EXPECT_EQ(hint(PodWithClaims("p", {}), Claim("a")), kDoesNotWake)
      << "pod has no pvc or ephemeral volumes";
  PersistentVolumeClaim foreign = Claim("a");
  foreign.metadata.namespace_name = "shop";
  EXPECT_EQ(hint(PodWithClaims("p", {"a"}), foreign), kDoesNotWake)
      << "pvc with the same name as the one used by the pod in a different "
         "namespace is modified";
  EXPECT_EQ(hint(PodWithClaims("p", {"b"}), Claim("a")), kDoesNotWake)
      << "pod has no pvc that is being modified";
  const Pod ephemeral = PodWithVolume("p", {.name = "v", .ephemeral = {{}}});
  EXPECT_EQ(hint(ephemeral, Claim("p-w")), kDoesNotWake)
      << "pod has no generic ephemeral volume that is being modified";
  EXPECT_EQ(hint(PodWithClaims("p", {"a"}), Claim("a")), kWakes)
      << "pod has the pvc that is being modified";
  EXPECT_EQ(hint(ephemeral, Claim("p-v")), kWakes)
      << "pod has the generic ephemeral volume that is being modified";
}

// TestIsSchedulableAfterStorageClassChange.
TEST(VolumeBindingPluginTest, AfterAStorageClassChange) {
  const VolumeCluster cluster({});
  const VolumeBinding plugin(cluster.handle());
  const auto old =
      std::make_shared<StorageClass>(Class("a", "WaitForFirstConsumer"));
  const Pod pod = PodWithClaims("p", {"a"});
  EXPECT_EQ(HintAfter(plugin, pod,
                      {{EventResource::kStorageClass, action::kAdd}}, {}, old),
            kWakes)
      << "When a new StorageClass is created, it returns Queue";
  const auto now = std::make_shared<StorageClass>(*old);
  const std::vector<ClusterEvent> update = {
      {EventResource::kStorageClass, action::kUpdate}};
  EXPECT_EQ(HintAfter(plugin, pod, update, old, now), kDoesNotWake);
  now->allowed_topologies = {
      {{{.key = "kubernetes.io/hostname", .values = {"foo"}}}}};
  EXPECT_EQ(HintAfter(plugin, pod, update, old, now), kWakes)
      << "When the AllowedTopologies are changed, it returns Queue";
}

// TestIsSchedulableAfterCSIStorageCapacityChange.
TEST(VolumeBindingPluginTest, AfterACapacityChange) {
  const VolumeCluster cluster({});
  const VolumeBinding plugin(cluster.handle());
  const Pod pod = PodWithClaims("p", {"a"});
  const auto capacity = [](std::optional<int> total,
                           std::optional<int> maximum = {}) {
    return std::make_shared<const CSIStorageCapacity>(
        CapacityOf("c", {.capacity = total, .maximum = maximum}));
  };
  EXPECT_EQ(HintAfter(plugin, pod,
                      {{EventResource::kCSIStorageCapacity, action::kAdd}}, {},
                      capacity(1)),
            kWakes)
      << "When a new CSIStorageCapacity is created";
  const auto hint = [&](const auto& old, const auto& now) {
    return HintAfter(plugin, pod,
                     {{EventResource::kCSIStorageCapacity, action::kUpdate}},
                     old, now);
  };
  EXPECT_EQ(hint(capacity({}), capacity(100)), kWakes) << "Capacity set";
  EXPECT_EQ(hint(capacity(100), capacity(100, 200)), kWakes)
      << "MaximumVolumeSize set";
  EXPECT_EQ(hint(capacity(50), capacity(100)), kWakes) << "Capacity increase";
  EXPECT_EQ(hint(capacity(100, 50), capacity(100)), kWakes)
      << "MaximumVolumeSize unset";
  EXPECT_EQ(hint(capacity(100, 50), capacity(100, 60)), kWakes)
      << "MaximumVolumeSize increase";
  EXPECT_EQ(hint(capacity({}), capacity({})), kDoesNotWake) << "no changes";
  EXPECT_EQ(hint(capacity(100), capacity(100)), kDoesNotWake) << "equal";
  EXPECT_EQ(hint(capacity(100, 50), capacity(50)), kDoesNotWake)
      << "equal(MaximumVolumeSize unset)";
  EXPECT_EQ(hint(capacity(100), capacity(90)), kDoesNotWake) << "decrease";
  EXPECT_EQ(hint(capacity(100, 50), capacity(100, 40)), kDoesNotWake)
      << "decrease(MaximumVolumeSize)";
  EXPECT_EQ(hint(capacity(100), capacity({})), kDoesNotWake) << "unset";
}

// TestIsSchedulableAfterCSIDriverChange. Upstream wakes only pods with an
// inline volume of the driver.
TEST(VolumeBindingPluginTest, AfterADriverChange) {
  const VolumeCluster cluster({});
  const VolumeBinding plugin(cluster.handle());
  const auto hint = [&](bool old, bool now) {
    return HintAfter(plugin, PodWithClaims("p", {"a"}),
                     {{EventResource::kCSIDriver, action::kUpdate}},
                     std::make_shared<const CSIDriver>(DriverOf(old)),
                     std::make_shared<const CSIDriver>(DriverOf(now)));
  };
  EXPECT_EQ(hint(true, false), kWakes);
  EXPECT_EQ(hint(true, true), kDoesNotWake);
  EXPECT_EQ(hint(false, true), kDoesNotWake);
  EXPECT_EQ(hint(false, false), kDoesNotWake);
}

}  // namespace
}  // namespace minisched
