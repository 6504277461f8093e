#include "minisched/api/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "minisched/api/namespace.h"
#include "minisched/api/node.h"
#include "minisched/api/options.h"
#include "minisched/api/parse_error.h"
#include "minisched/api/pod.h"
#include "minisched/api/pod_disruption_budget.h"
#include "minisched/api/pod_status_patch.h"
#include "minisched/api/service.h"
#include "minisched/api/status.h"
#include "minisched/api/watch_event.h"
#include "minisched/api/workloads.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

template <class T>
std::string ErrorOf(std::string_view text) {
  try {
    FromJson<T>(text);
  } catch (const ParseError& error) {
    return error.what();
  }
  return "no error";
}

TEST(JsonTest, ReadsAPod) {
  const Pod pod = FromJson<Pod>(R"({
    "apiVersion": "v1", "kind": "Pod",
    "metadata": {
      "name": "web-0", "namespace": "shop", "uid": "u1",
      "resourceVersion": "42", "creationTimestamp": "2026-11-21T10:00:00Z",
      "deletionTimestamp": null, "labels": {"app": "web"},
      "managedFields": [{"manager": "kubectl"}],
      "ownerReferences": [{"kind": "ReplicaSet", "name": "web",
                           "controller": true}]},
    "spec": {
      "nodeName": "node-1", "schedulerName": "minisched", "priority": -5,
      "preemptionPolicy": "Never",
      "schedulingGates": [{"name": "example.com/wait"}],
      "nodeSelector": {"disk": "ssd"},
      "tolerations": [{"key": "gpu", "operator": "Exists",
                       "effect": "NoExecute", "tolerationSeconds": 0}],
      "containers": [{
        "name": "main", "image": "nginx",
        "resources": {"requests": {"cpu": "100m", "memory": "1Gi"},
                      "limits": {"cpu": 2}},
        "ports": [{"containerPort": 80, "hostPort": 8080,
                   "protocol": "TCP"}]}],
      "initContainers": [{"name": "proxy", "restartPolicy": "Always"}],
      "overhead": {"memory": "64Mi"}},
    "status": {
      "phase": "Pending", "nominatedNodeName": "node-2",
      "startTime": "2026-11-21T10:00:05Z",
      "conditions": [{"type": "PodScheduled", "status": "False",
                      "reason": "Unschedulable", "message": "too big"}]}})");

  EXPECT_EQ(ObjectName(pod.metadata), "shop/web-0");
  EXPECT_EQ(pod.metadata.uid, "u1");
  EXPECT_EQ(pod.metadata.resource_version, "42");
  EXPECT_EQ(pod.metadata.creation_timestamp, ParseTime("2026-11-21T10:00:00Z"));
  EXPECT_FALSE(pod.metadata.deletion_timestamp);
  EXPECT_THAT(pod.metadata.labels, ElementsAre(Pair("app", "web")));
  ASSERT_EQ(pod.metadata.owner_references.size(), 1U);
  EXPECT_TRUE(pod.metadata.owner_references[0].controller);

  EXPECT_EQ(pod.spec.node_name, "node-1");
  EXPECT_EQ(pod.spec.scheduler_name, "minisched");
  EXPECT_EQ(pod.spec.priority, -5);
  EXPECT_EQ(pod.spec.preemption_policy, "Never");
  EXPECT_EQ(pod.status.start_time, ParseTime("2026-11-21T10:00:05Z"));
  ASSERT_EQ(pod.spec.scheduling_gates.size(), 1U);
  EXPECT_EQ(pod.spec.scheduling_gates[0].name, "example.com/wait");
  EXPECT_THAT(pod.spec.node_selector, ElementsAre(Pair("disk", "ssd")));
  ASSERT_EQ(pod.spec.tolerations.size(), 1U);
  EXPECT_EQ(pod.spec.tolerations[0].operation, "Exists");
  EXPECT_EQ(pod.spec.tolerations[0].toleration_seconds, 0);
  ASSERT_EQ(pod.spec.containers.size(), 1U);
  const Container& main = pod.spec.containers[0];
  EXPECT_EQ(main.resources.requests.at("cpu").MilliValue(), 100);
  EXPECT_EQ(main.resources.requests.at("memory").Value(), 1 << 30);
  EXPECT_EQ(main.resources.limits.at("cpu").Value(), 2);
  ASSERT_EQ(main.ports.size(), 1U);
  EXPECT_EQ(main.ports[0].host_port, 8080);
  ASSERT_EQ(pod.spec.init_containers.size(), 1U);
  EXPECT_EQ(pod.spec.init_containers[0].restart_policy, "Always");
  EXPECT_EQ(pod.spec.overhead.at("memory").ToString(), "64Mi");

  EXPECT_EQ(pod.status.phase, "Pending");
  EXPECT_EQ(pod.status.nominated_node_name, "node-2");
  ASSERT_EQ(pod.status.conditions.size(), 1U);
  EXPECT_EQ(pod.status.conditions[0].reason, "Unschedulable");
}

TEST(JsonTest, ReadsNodeAffinity) {
  const Pod pod = FromJson<Pod>(R"({"spec": {"affinity": {"nodeAffinity": {
    "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
      {"matchExpressions": [{"key": "cpus", "operator": "Gt",
                             "values": ["4"]}]},
      {"matchFields": [{"key": "metadata.name", "operator": "In",
                        "values": ["node-1"]}]}]},
    "preferredDuringSchedulingIgnoredDuringExecution": [
      {"weight": 50, "preference": {"matchExpressions": [
        {"key": "gpu", "operator": "DoesNotExist"}]}}]}}}})");
  const auto& affinity = pod.spec.affinity.node_affinity;
  ASSERT_TRUE(affinity.required);
  const auto& terms = affinity.required->node_selector_terms;
  ASSERT_EQ(terms.size(), 2U);
  ASSERT_EQ(terms[0].match_expressions.size(), 1U);
  EXPECT_EQ(terms[0].match_expressions[0].key, "cpus");
  EXPECT_EQ(terms[0].match_expressions[0].op, "Gt");
  EXPECT_THAT(terms[0].match_expressions[0].values, ElementsAre("4"));
  ASSERT_EQ(terms[1].match_fields.size(), 1U);
  EXPECT_EQ(terms[1].match_fields[0].key, "metadata.name");
  ASSERT_EQ(affinity.preferred.size(), 1U);
  EXPECT_EQ(affinity.preferred[0].weight, 50);
  const NodeSelectorTerm& preference = affinity.preferred[0].preference;
  ASSERT_EQ(preference.match_expressions.size(), 1U);
  EXPECT_EQ(preference.match_expressions[0].op, "DoesNotExist");
  // An absent list of terms differs from an absent selector.
  EXPECT_TRUE(FromJson<Pod>(R"({"spec": {"affinity": {"nodeAffinity": {
      "requiredDuringSchedulingIgnoredDuringExecution": {}}}}})")
                  .spec.affinity.node_affinity.required);
  EXPECT_FALSE(Pod().spec.affinity.node_affinity.required);
}

TEST(JsonTest, ReadsPodAffinity) {
  const auto pod = FromJson<Pod>(R"({"spec": {"affinity": {
    "podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
      {"weight": 7, "podAffinityTerm": {"topologyKey": "zone",
                                        "namespaceSelector": {}}}]},
    "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
      {"labelSelector": {"matchLabels": {"app": "a"}}, "namespaces": ["x", "y"],
       "topologyKey": "node", "namespaceSelector": {"matchExpressions": [
           {"key": "team", "operator": "Exists"}]},
       "matchLabelKeys": ["a"], "mismatchLabelKeys": ["b", "c"]},
      {"topologyKey": "node"}]}}}})");
  const Affinity& affinity = pod.spec.affinity;
  EXPECT_TRUE(affinity.pod_affinity.required.empty());
  ASSERT_EQ(affinity.pod_affinity.preferred.size(), 1U);
  EXPECT_EQ(affinity.pod_affinity.preferred[0],
            (WeightedPodAffinityTerm{
                .weight = 7,
                .pod_affinity_term = {.topology_key = "zone",
                                      .namespace_selector = LabelSelector()}}));
  EXPECT_TRUE(affinity.pod_anti_affinity.preferred.empty());
  ASSERT_EQ(affinity.pod_anti_affinity.required.size(), 2U);
  EXPECT_EQ(
      affinity.pod_anti_affinity.required[0],
      (PodAffinityTerm{.label_selector = {{.match_labels = {{"app", "a"}}}},
                       .namespaces = {"x", "y"},
                       .topology_key = "node",
                       .namespace_selector =
                           {{.match_labels = {},
                             .match_expressions = {{"team", "Exists", {}}}}},
                       .match_label_keys = {"a"},
                       .mismatch_label_keys = {"b", "c"}}));
  EXPECT_FALSE(affinity.pod_anti_affinity.required[1].label_selector);
  EXPECT_FALSE(affinity.pod_anti_affinity.required[1].namespace_selector);
}

TEST(JsonTest, ReadsTopologySpreadConstraints) {
  const auto pod = FromJson<Pod>(R"({"spec": {"topologySpreadConstraints": [
    {"maxSkew": 2, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule",
     "labelSelector": {"matchExpressions": [
         {"key": "app", "operator": "Exists"}]},
     "minDomains": 3, "nodeAffinityPolicy": "Ignore",
     "nodeTaintsPolicy": "Honor", "matchLabelKeys": ["a", "b"]},
    {"maxSkew": 1, "topologyKey": "node", "labelSelector": {},
     "whenUnsatisfiable": "ScheduleAnyway"},
    {"maxSkew": 1, "topologyKey": "node"}]}})");
  const auto& constraints = pod.spec.topology_spread_constraints;
  ASSERT_EQ(constraints.size(), 3U);
  EXPECT_EQ(
      constraints[0],
      (TopologySpreadConstraint{
          .max_skew = 2,
          .topology_key = "zone",
          .when_unsatisfiable = "DoNotSchedule",
          .label_selector = {{.match_labels = {},
                              .match_expressions = {{"app", "Exists", {}}}}},
          .min_domains = 3,
          .node_affinity_policy = "Ignore",
          .node_taints_policy = "Honor",
          .match_label_keys = {"a", "b"}}));
  EXPECT_EQ(constraints[1].when_unsatisfiable, "ScheduleAnyway");
  EXPECT_EQ(constraints[1].label_selector, LabelSelector());
  EXPECT_FALSE(constraints[2].label_selector);
  EXPECT_FALSE(constraints[2].min_domains);
}

TEST(JsonTest, ReadsTheResourcesOfARunningPod) {
  const Pod pod = FromJson<Pod>(R"({"status": {
    "containerStatuses": [{
      "name": "main", "allocatedResources": {"cpu": "2"},
      "resources": {"requests": {"cpu": "1"}}}, {"name": "other"}],
    "initContainerStatuses": [{"name": "proxy", "resources": {}}],
    "allocatedResources": {"cpu": "4"},
    "resources": {"requests": {"cpu": "3"}}}})");
  ASSERT_EQ(pod.status.container_statuses.size(), 2U);
  const ContainerStatus& main = pod.status.container_statuses[0];
  EXPECT_EQ(main.name, "main");
  EXPECT_THAT(main.allocated_resources,
              ElementsAre(Pair("cpu", Quantity::FromValue(2))));
  ASSERT_TRUE(main.resources);
  EXPECT_EQ(main.resources->requests.at("cpu").Value(), 1);
  EXPECT_FALSE(pod.status.container_statuses[1].resources);
  ASSERT_EQ(pod.status.init_container_statuses.size(), 1U);
  EXPECT_TRUE(pod.status.init_container_statuses[0].resources);
  EXPECT_THAT(pod.status.allocated_resources,
              ElementsAre(Pair("cpu", Quantity::FromValue(4))));
  ASSERT_TRUE(pod.status.resources);
  EXPECT_EQ(pod.status.resources->requests.at("cpu").Value(), 3);
}

TEST(JsonTest, ReadsANode) {
  const Node node = FromJson<Node>(R"({
    "metadata": {"name": "node-1"},
    "spec": {"unschedulable": true,
             "taints": [{"key": "gpu", "value": "yes", "effect": "NoSchedule",
                         "timeAdded": "2026-11-21T10:00:00Z"}]},
    "status": {"capacity": {"cpu": "4"}, "allocatable": {"cpu": "3900m"},
               "conditions": [{"type": "Ready", "status": "True"}],
               "images": [{"names": ["nginx:1.29"], "sizeBytes": 3000000000}]
              }})");
  EXPECT_EQ(ObjectName(node.metadata), "node-1");
  EXPECT_TRUE(node.spec.unschedulable);
  ASSERT_EQ(node.spec.taints.size(), 1U);
  EXPECT_EQ(node.spec.taints[0].effect, "NoSchedule");
  EXPECT_TRUE(node.spec.taints[0].time_added);
  EXPECT_EQ(node.status.capacity.at("cpu").Value(), 4);
  EXPECT_EQ(node.status.allocatable.at("cpu").MilliValue(), 3900);
  ASSERT_EQ(node.status.conditions.size(), 1U);
  EXPECT_EQ(node.status.conditions[0].type, "Ready");
  ASSERT_EQ(node.status.images.size(), 1U);
  EXPECT_THAT(node.status.images[0].names, ElementsAre("nginx:1.29"));
  EXPECT_EQ(node.status.images[0].size_bytes, 3'000'000'000);
}

TEST(JsonTest, ReadsANamespace) {
  const auto shop = FromJson<Namespace>(R"({
    "apiVersion": "v1", "kind": "Namespace",
    "metadata": {"name": "shop", "labels": {"team": "a"}},
    "status": {"phase": "Active"}})");
  EXPECT_EQ(shop.metadata.name, "shop");
  EXPECT_EQ(shop.metadata.labels, (Labels{{"team", "a"}}));
  EXPECT_EQ(Namespace::kResource.Path("", "shop"), "/api/v1/namespaces/shop");
}

TEST(JsonTest, ReadsTheSelectorsOfServicesAndWorkloads) {
  const auto service = FromJson<Service>(R"({
    "apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"},
    "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]}})");
  EXPECT_EQ(service.metadata.name, "web");
  EXPECT_EQ(service.spec.selector, (Labels{{"app", "web"}}));
  EXPECT_EQ(Service::kResource.Path("shop", ""),
            "/api/v1/namespaces/shop/services");
  EXPECT_TRUE(FromJson<Service>(R"({"spec": {}})").spec.selector.empty());

  const auto controller = FromJson<ReplicationController>(R"({
    "metadata": {"name": "rc"}, "spec": {"selector": {"app": "a"}}})");
  EXPECT_EQ(controller.metadata.name, "rc");
  EXPECT_EQ(controller.spec.selector, (Labels{{"app", "a"}}));
  EXPECT_EQ(ReplicationController::kResource.Path("", ""),
            "/api/v1/replicationcontrollers");

  const char* const set = R"({"metadata": {"name": "s"}, "spec": {
    "replicas": 3, "selector": {"matchLabels": {"app": "a"},
    "matchExpressions": [{"key": "k", "operator": "Exists"}]}}})";
  const LabelSelector selector{.match_labels = {{"app", "a"}},
                               .match_expressions = {{"k", "Exists", {}}}};
  EXPECT_EQ(FromJson<ReplicaSet>(set).metadata.name, "s");
  EXPECT_EQ(FromJson<ReplicaSet>(set).spec.selector, selector);
  EXPECT_EQ(ReplicaSet::kResource.Path("", ""), "/apis/apps/v1/replicasets");
  EXPECT_EQ(FromJson<StatefulSet>(set).metadata.name, "s");
  EXPECT_EQ(FromJson<StatefulSet>(set).spec.selector, selector);
  EXPECT_EQ(StatefulSet::kResource.Path("", ""), "/apis/apps/v1/statefulsets");
}

TEST(JsonTest, ReadsAPodDisruptionBudget) {
  const auto budget = FromJson<PodDisruptionBudget>(R"({
    "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
    "metadata": {"name": "web", "namespace": "shop"},
    "spec": {"minAvailable": "50%", "selector": {
      "matchLabels": {"app": "web"},
      "matchExpressions": [{"key": "tier", "operator": "In",
                            "values": ["a", "b"]}]}},
    "status": {"disruptionsAllowed": 2, "currentHealthy": 5,
               "disruptedPods": {"web-0": "2026-11-21T10:00:00Z"}}})");
  ASSERT_TRUE(budget.spec.selector);
  const auto selector = Selector::FromLabelSelector(*budget.spec.selector);
  EXPECT_EQ(selector.ToString(), "app=web,tier in (a,b)");
  EXPECT_EQ(budget.status.disruptions_allowed, 2);
  EXPECT_THAT(budget.status.disrupted_pods,
              ElementsAre(Pair("web-0", ParseTime("2026-11-21T10:00:00Z"))));
  EXPECT_EQ(PodDisruptionBudget::kResource.Path("shop", "web"),
            "/apis/policy/v1/namespaces/shop/poddisruptionbudgets/web");
  const auto of_none = FromJson<PodDisruptionBudget>(R"({"spec": {}})");
  EXPECT_FALSE(of_none.spec.selector);
  const auto of_all =
      FromJson<PodDisruptionBudget>(R"({"spec": {"selector": {}}})");
  EXPECT_TRUE(of_all.spec.selector);
}

TEST(JsonTest, ReadsTheVolumesOfAPod) {
  const auto pod = FromJson<Pod>(R"({"spec": {"volumes": [
    {"name": "a", "persistentVolumeClaim": {"claimName": "data"}},
    {"name": "b", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}},
    {"name": "c", "gcePersistentDisk": {"pdName": "d", "readOnly": true}},
    {"name": "d", "awsElasticBlockStore": {"volumeID": "v", "fsType": "xfs"}},
    {"name": "e", "iscsi": {"iqn": "i", "lun": 0, "readOnly": true}},
    {"name": "f", "rbd": {"monitors": ["m1", "m2"], "pool": "p",
                          "image": "i", "readOnly": true}},
    {"name": "g", "emptyDir": {}}]}})");
  EXPECT_EQ(
      pod.spec.volumes,
      (std::vector<Volume>{
          {.name = "a", .persistent_volume_claim = {{.claim_name = "data"}}},
          {.name = "b", .ephemeral = EphemeralVolumeSource()},
          {.name = "c",
           .gce_persistent_disk = {{.pd_name = "d", .read_only = true}}},
          {.name = "d", .aws_elastic_block_store = {{.volume_id = "v"}}},
          {.name = "e", .iscsi = {{.iqn = "i", .read_only = true}}},
          {.name = "f",
           .rbd = {{.monitors = {"m1", "m2"},
                    .pool = "p",
                    .image = "i",
                    .read_only = true}}},
          {.name = "g"}}));
}

TEST(JsonTest, WritesWhatAPatchOfAPodsStatusNames) {
  EXPECT_EQ(ToJson(PodStatusPatch{}), R"({"status":{}})");
  EXPECT_EQ(ToJson(PodStatusPatch{.nominated_node_name = "node-1"}),
            R"({"status":{"nominatedNodeName":"node-1"}})");
  EXPECT_EQ(ToJson(PodStatusPatch{
                .resource_version = "7",
                .condition = Condition{.type = "Ready", .status = "True"},
                .nominated_node_name = ""}),
            R"({"metadata":{"resourceVersion":"7"},"status":{"conditions":)"
            R"([{"status":"True","type":"Ready"}],"nominatedNodeName":null}})");
}

TEST(JsonTest, LeavesOutEmptyFields) {
  Binding binding;
  binding.metadata.namespace_name = "shop";
  binding.metadata.name = "web-0";
  binding.metadata.uid = "u1";
  binding.target.kind = "Node";
  binding.target.name = "node-1";
  EXPECT_EQ(ToJson(binding),
            R"({"apiVersion":"v1","kind":"Binding",)"
            R"("metadata":{"name":"web-0","namespace":"shop","uid":"u1"},)"
            R"("target":{"kind":"Node","name":"node-1"}})");
}

TEST(JsonTest, WritesOptionalZeros) {
  Pod pod;
  pod.spec.priority = 0;
  pod.spec.tolerations.push_back(
      {.key = "gpu", .operation = "Exists", .toleration_seconds = 0});
  EXPECT_EQ(ToJson(pod),
            R"({"apiVersion":"v1","kind":"Pod","spec":{"priority":0,)"
            R"("tolerations":[{"key":"gpu","operator":"Exists",)"
            R"("tolerationSeconds":0}]}})");
  EXPECT_EQ(ToJson(DeleteOptions{.grace_period_seconds = 0, .uid = "u1"}),
            R"({"gracePeriodSeconds":0,"preconditions":{"uid":"u1"}})");
}

TEST(JsonTest, ReadsItsOwnOutput) {
  Pod pod;
  pod.metadata.name = "a";
  pod.metadata.creation_timestamp = ParseTime("2026-11-21T10:00:00Z");
  pod.metadata.labels = {{"x", "y"}};
  pod.metadata.finalizers = {"example.com/f"};
  pod.metadata.generation = 3;
  pod.status.conditions = {{.type = "Ready", .observed_generation = 2}};
  pod.spec.containers.push_back(
      {.name = "main",
       .resources = {.requests = {{"cpu", Quantity::Parse("1.5")}}}});
  const std::string once = ToJson(pod);
  EXPECT_EQ(ToJson(FromJson<Pod>(once)), once);
}

TEST(JsonTest, ReportsThePathOfAMalformedField) {
  const struct {
    const char* text;
    const char* error;
  } kCases[] = {
      {R"([])", "expected an object, found a JSON array"},
      {R"({"kind": "Node"})", "expected a Pod, found a Node"},
      {R"({"metadata": {"name": 7}})",
       "metadata.name: expected a string, found a JSON number"},
      {R"({"metadata": {"labels": {"a.b/c": 7}}})",
       "metadata.labels[a.b/c]: expected a string, found a JSON number"},
      {R"({"metadata": {"creationTimestamp": "yesterday"}})",
       "metadata.creationTimestamp: "},
      {R"({"spec": {"containers": {}}})",
       "spec.containers: expected a list, found a JSON object"},
      {R"({"spec": {"containers": [{}, {"name": true}]}})",
       "spec.containers[1].name: expected a string, found a JSON boolean"},
      {R"({"spec": {"containers": [
            {"resources": {"requests": {"cpu": "much"}}}]}})",
       "spec.containers[0].resources.requests.cpu: "},
      {R"({"spec": {"priority": 1.5}})",
       "spec.priority: expected a whole number, found a JSON number"},
      {R"({"spec": {"priority": 2147483648}})",
       "spec.priority: the number 2147483648 does not fit"},
      {R"({"spec": {"priority": -2147483649}})",
       "spec.priority: the number -2147483649 does not fit"},
      {R"({"spec": {"tolerations": [
            {"tolerationSeconds": 18446744073709551615}]}})",
       "spec.tolerations[0].tolerationSeconds: the number "
       "18446744073709551615 does not fit"},
  };
  for (const auto& test : kCases) {
    EXPECT_THAT(ErrorOf<Pod>(test.text), ::testing::StartsWith(test.error));
  }
  EXPECT_THAT(ErrorOf<Pod>("{\"spec\": "),
              ::testing::StartsWith("not JSON: parse error at line 1"));
  EXPECT_EQ(ErrorOf<Pod>(R"({"x": 1e999})"),
            "not JSON: number overflow parsing '1e999'");
  EXPECT_EQ(ErrorOf<Node>(R"({"spec": {"unschedulable": "yes"}})"),
            "spec.unschedulable: expected true or false, found a JSON string");
}

// The error may become part of an Event, which must be UTF-8.
TEST(JsonTest, AnErrorIsShortPrintableText) {
  const std::string error =
      ErrorOf<Pod>("{\"a\": \"\xfe" + std::string(10'000, 'x'));
  EXPECT_THAT(error, ::testing::StartsWith("not JSON: parse error at line 1"));
  EXPECT_THAT(error, ::testing::EndsWith("'\"\\xfe'"));
  const std::string open = ErrorOf<Pod>("\"" + std::string(10'000, 'x'));
  EXPECT_LT(open.size(), 400);
  EXPECT_THAT(open, ::testing::EndsWith("xxx..."));
}

TEST(JsonTest, SurvivesDeepNesting) {
  const std::string deep(200'000, '[');
  EXPECT_THAT(ErrorOf<Pod>(deep), ::testing::StartsWith("not JSON"));
  const std::string closed = deep + std::string(200'000, ']');
  EXPECT_EQ(FromJson<Pod>(R"({"x": )" + closed + "}").metadata.name, "");
}

TEST(JsonTest, AListKeepsTheReadableObjects) {
  const auto list = FromJson<ObjectList<Pod>>(R"({
    "kind": "PodList", "apiVersion": "v1",
    "metadata": {"resourceVersion": "7", "continue": "c",
                 "remainingItemCount": 3},
    "items": [
      {"metadata": {"name": "good"}},
      {"metadata": {"name": "bad", "namespace": "shop",
                    "resourceVersion": "5"},
       "spec": {"overhead": {"cpu": "1e999"}}},
      7]})");
  EXPECT_EQ(list.metadata.resource_version, "7");
  EXPECT_EQ(list.metadata.continue_token, "c");
  EXPECT_EQ(list.metadata.remaining_item_count, 3);
  ASSERT_EQ(list.items.size(), 1U);
  EXPECT_EQ(list.items[0]->metadata.name, "good");
  ASSERT_EQ(list.malformed.size(), 2U);
  EXPECT_EQ(list.malformed[0].namespace_name, "shop");
  EXPECT_EQ(list.malformed[0].name, "bad");
  EXPECT_EQ(list.malformed[0].resource_version, "5");
  EXPECT_THAT(list.malformed[0].error,
              ::testing::StartsWith("spec.overhead.cpu: "));
  EXPECT_EQ(list.malformed[1].error, "expected an object, found a JSON number");

  EXPECT_TRUE(FromJson<ObjectList<Pod>>(R"({"items": null})").items.empty());
  EXPECT_EQ(ErrorOf<ObjectList<Pod>>(R"({"kind": "NodeList"})"),
            "expected a PodList, found a NodeList");
  EXPECT_EQ(ErrorOf<ObjectList<Pod>>(R"({"items": 7})"),
            "items: expected a list, found a JSON number");
}

TEST(JsonTest, ReadsWatchEvents) {
  using Event = WatchEvent<Pod>;
  const auto added = FromJson<Event>(R"({"type": "ADDED", "object": {
      "kind": "Pod", "metadata": {"name": "a", "resourceVersion": "8"}}})");
  EXPECT_EQ(added.type, Event::Type::kAdded);
  ASSERT_TRUE(added.object);
  EXPECT_EQ(added.object->metadata.name, "a");
  EXPECT_EQ(added.resource_version, "8");

  const auto bookmark = FromJson<Event>(R"({"type": "BOOKMARK", "object": {
      "kind": "Pod", "metadata": {"resourceVersion": "9"}}})");
  EXPECT_EQ(bookmark.type, Event::Type::kBookmark);
  EXPECT_FALSE(bookmark.object);
  EXPECT_EQ(bookmark.resource_version, "9");

  const auto error = FromJson<Event>(R"({"type": "ERROR", "object": {
      "kind": "Status", "status": "Failure", "reason": "Expired",
      "message": "too old resource version", "code": 410}})");
  EXPECT_EQ(error.type, Event::Type::kError);
  EXPECT_EQ(error.status.code, 410);
  EXPECT_EQ(error.status.reason, "Expired");

  const auto malformed = FromJson<Event>(R"({"type": "MODIFIED", "object": {
      "metadata": {"name": "b", "resourceVersion": "10"}, "spec": 7}})");
  EXPECT_EQ(malformed.type, Event::Type::kModified);
  EXPECT_FALSE(malformed.object);
  ASSERT_TRUE(malformed.malformed);
  EXPECT_EQ(malformed.malformed->name, "b");
  EXPECT_EQ(malformed.resource_version, "10");

  EXPECT_EQ(ErrorOf<Event>(R"({"type": "RENAMED", "object": {}})"),
            "unknown watch event type 'RENAMED'");
  EXPECT_EQ(ErrorOf<Event>(R"({"type": "ADDED"})"),
            "a watch event without an object");
}

TEST(JsonTest, ReadsAStatus) {
  const auto status = FromJson<ApiStatus>(R"({
    "kind": "Status", "status": "Failure", "message": "no such pod",
    "reason": "NotFound", "code": 404,
    "details": {"name": "a", "kind": "pods", "retryAfterSeconds": 2,
                "causes": [{"reason": "FieldValueInvalid", "message": "m",
                            "field": "spec"}]}})");
  EXPECT_EQ(status.code, 404);
  EXPECT_EQ(status.reason, "NotFound");
  EXPECT_EQ(status.details.retry_after_seconds, 2);
  ASSERT_EQ(status.details.causes.size(), 1U);
  EXPECT_EQ(status.details.causes[0].field, "spec");
}

}  // namespace
}  // namespace minisched
