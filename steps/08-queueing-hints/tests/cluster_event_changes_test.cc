// Tests which events the update of a node or of a pod has.
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "framework/cluster_event.h"
#include "minisched/api/json.h"

namespace minisched {
namespace {

// The events of an update. An object is JSON without the outer braces.
struct UpdateCase {
  const char* name;
  const char* old_object;
  const char* new_object;
  std::vector<std::string> labels;  // of the events, in their order
};

std::ostream& operator<<(std::ostream& out, const UpdateCase& test) {
  return out << test.name;
}

std::string NameOfUpdateCase(const ::testing::TestParamInfo<UpdateCase>& info) {
  return info.param.name;
}

template <class T>
T Unwrapped(const std::string& object) {
  return FromJson<T>("{" + object + "}");
}

std::vector<std::string> LabelsOf(const std::vector<ClusterEvent>& events) {
  std::vector<std::string> labels;
  for (const ClusterEvent& event : events) labels.push_back(event.Label());
  return labels;
}

class NodeUpdateTest : public ::testing::TestWithParam<UpdateCase> {};

TEST_P(NodeUpdateTest, HasTheseEvents) {
  EXPECT_EQ(LabelsOf(NodeSchedulingPropertiesChange(
                Unwrapped<Node>(GetParam().old_object),
                Unwrapped<Node>(GetParam().new_object))),
            GetParam().labels);
}

// With cases of TestNodeSchedulingPropertiesChange and TestNodeConditionsChange
// of upstream's events_test.go.
const UpdateCase kNodeUpdates[] = {
    {"Heartbeat",
     R"("metadata":{"resourceVersion":"1"},
        "status":{"conditions":[
          {"type":"Ready","status":"True","reason":"a","message":"a",
           "lastTransitionTime":"2026-01-01T00:00:00Z"}]})",
     R"("metadata":{"resourceVersion":"2"},
        "status":{"conditions":[
          {"type":"Ready","status":"True","reason":"b","message":"b",
           "lastTransitionTime":"2026-01-02T00:00:00Z"}]})",
     {}},
    {"ImagesAndCapacity",
     R"("status":{"capacity":{"cpu":"4"}})",
     R"("status":{"capacity":{"cpu":"8"},
                  "images":[{"names":["nginx"],"sizeBytes":1}]})",
     {}},
    {"Cordon", R"("spec":{})", R"("spec":{"unschedulable":true})", {}},
    {"Uncordon",
     R"("spec":{"unschedulable":true})",
     R"("spec":{})",
     {"NodeUpdateNodeTaint"}},
    {"MoreAllocatable",
     R"("status":{"allocatable":{"cpu":"4"}})",
     R"("status":{"allocatable":{"cpu":"8"}})",
     {"NodeUpdateNodeAllocatable"}},
    {"LessAllocatable",
     R"("status":{"allocatable":{"cpu":"4"}})",
     R"("status":{"allocatable":{"cpu":"2"}})",
     {"NodeUpdateNodeAllocatable"}},
    {"AnotherAllocatableResource",
     R"("status":{"allocatable":{"cpu":"4"}})",
     R"("status":{"allocatable":{"cpu":"4","example.com/gpu":"1"}})",
     {"NodeUpdateNodeAllocatable"}},
    {"AllocatableInAnotherFormat",
     R"("status":{"allocatable":{"cpu":"4","memory":"1Gi"}})",
     R"("status":{"allocatable":{"cpu":"4000m","memory":"1073741824"}})",
     {}},
    {"LabelAdded",
     R"("metadata":{"labels":{"a":"1"}})",
     R"("metadata":{"labels":{"a":"1","b":"1"}})",
     {"NodeUpdateNodeLabel"}},
    {"LabelChanged",
     R"("metadata":{"labels":{"a":"1"}})",
     R"("metadata":{"labels":{"a":"2"}})",
     {"NodeUpdateNodeLabel"}},
    {"TaintAdded",
     R"("spec":{})",
     R"("spec":{"taints":[{"key":"a","effect":"NoSchedule"}]})",
     {"NodeUpdateNodeTaint"}},
    {"TaintRemoved",
     R"("spec":{"taints":[{"key":"a","effect":"NoSchedule"},
                          {"key":"b","effect":"NoSchedule"}]})",
     R"("spec":{"taints":[{"key":"a","effect":"NoSchedule"}]})",
     {"NodeUpdateNodeTaint"}},
    {"KeyOfTaintChanged",
     R"("spec":{"taints":[{"key":"a","effect":"NoSchedule"}]})",
     R"("spec":{"taints":[{"key":"b","effect":"NoSchedule"}]})",
     {"NodeUpdateNodeTaint"}},
    {"ValueOfTaintChanged",
     R"("spec":{"taints":[{"key":"a","value":"1","effect":"NoSchedule"}]})",
     R"("spec":{"taints":[{"key":"a","value":"2","effect":"NoSchedule"}]})",
     {"NodeUpdateNodeTaint"}},
    {"EffectOfTaintChanged",
     R"("spec":{"taints":[{"key":"a","effect":"NoSchedule"}]})",
     R"("spec":{"taints":[{"key":"a","effect":"NoExecute"}]})",
     {"NodeUpdateNodeTaint"}},
    {"TimeOfTaintChanged",
     R"("spec":{"taints":[{"key":"a","effect":"NoExecute",
                           "timeAdded":"2026-01-01T00:00:00Z"}]})",
     R"("spec":{"taints":[{"key":"a","effect":"NoExecute",
                           "timeAdded":"2026-01-02T00:00:00Z"}]})",
     {"NodeUpdateNodeTaint"}},
    {"TaintsInAnotherOrder",
     R"("spec":{"taints":[{"key":"a"},{"key":"b"}]})",
     R"("spec":{"taints":[{"key":"b"},{"key":"a"}]})",
     {"NodeUpdateNodeTaint"}},
    {"TheSameTaints",
     R"("spec":{"taints":[{"key":"a","value":"1","effect":"NoSchedule"}]})",
     R"("spec":{"taints":[{"key":"a","value":"1","effect":"NoSchedule"}]})",
     {}},
    {"StatusOfConditionChanged",
     R"("status":{"conditions":[{"type":"Ready","status":"False"}]})",
     R"("status":{"conditions":[{"type":"Ready","status":"True"}]})",
     {"NodeUpdateNodeCondition"}},
    {"ConditionAdded",
     R"("status":{"conditions":[{"type":"Ready","status":"True"}]})",
     R"("status":{"conditions":[{"type":"Ready","status":"True"},
                                {"type":"DiskPressure","status":"True"}]})",
     {"NodeUpdateNodeCondition"}},
    {"ConditionsInAnotherOrder",
     R"("status":{"conditions":[{"type":"Ready","status":"True"},
                                {"type":"DiskPressure","status":"False"}]})",
     R"("status":{"conditions":[{"type":"DiskPressure","status":"False"},
                                {"type":"Ready","status":"True"}]})",
     {}},
    {"Annotation",
     R"("metadata":{})",
     R"("metadata":{"annotations":{"a":"1"}})",
     {"NodeUpdateNodeAnnotation"}},
    {"LabelAndTaint",
     R"("metadata":{}, "spec":{})",
     R"("metadata":{"labels":{"a":"1"}}, "spec":{"taints":[{"key":"a"}]})",
     {"NodeUpdateNodeLabel", "NodeUpdateNodeTaint"}},
    {"UncordonAndTaintAreTwoEvents",
     R"("spec":{"unschedulable":true,"taints":[{"key":"a"}]})",
     R"("spec":{})",
     {"NodeUpdateNodeTaint", "NodeUpdateNodeTaint"}},
    {"Everything",
     R"("spec":{"unschedulable":true})",
     R"("metadata":{"labels":{"a":"1"},"annotations":{"a":"1"}},
        "spec":{"taints":[{"key":"a"}]},
        "status":{"allocatable":{"cpu":"1"},
                  "conditions":[{"type":"Ready","status":"True"}]})",
     {"NodeUpdateNodeTaint", "NodeUpdateNodeAllocatable", "NodeUpdateNodeLabel",
      "NodeUpdateNodeTaint", "NodeUpdateNodeCondition",
      "NodeUpdateNodeAnnotation"}}};
INSTANTIATE_TEST_SUITE_P(All, NodeUpdateTest, ::testing::ValuesIn(kNodeUpdates),
                         NameOfUpdateCase);

class PodUpdateTest : public ::testing::TestWithParam<UpdateCase> {};

TEST_P(PodUpdateTest, HasTheseEvents) {
  EXPECT_EQ(LabelsOf(PodSchedulingPropertiesChange(
                Unwrapped<Pod>(GetParam().old_object),
                Unwrapped<Pod>(GetParam().new_object))),
            GetParam().labels);
}

// With cases of Test_podSchedulingPropertiesChange of upstream's
// events_test.go.
const UpdateCase kPodUpdates[] = {
    {"AnnotationOfPendingPod",
     R"("metadata":{})",
     R"("metadata":{"annotations":{"a":"1"}})",
     {"TargetPodUpdate"}},
    {"AnnotationOfAssignedPod",
     R"("spec":{"nodeName":"node-1"})",
     R"("metadata":{"annotations":{"a":"1"}}, "spec":{"nodeName":"node-1"})",
     {"AssignedPodUpdate"}},
    {"ConditionOfPendingPod",
     R"("status":{})",
     R"("status":{"conditions":[{"type":"PodScheduled","status":"False"}]})",
     {"TargetPodUpdate"}},
    {"TheNewStateHasTheNode",
     R"("spec":{})",
     R"("metadata":{"labels":{"a":"1"}}, "spec":{"nodeName":"node-1"})",
     {"AssignedPodUpdatePodLabel"}},
    {"LabelAdded",
     R"("metadata":{})",
     R"("metadata":{"labels":{"a":"1"}})",
     {"TargetPodUpdatePodLabel"}},
    {"LabelOfAssignedPodChanged",
     R"("metadata":{"labels":{"a":"1"}}, "spec":{"nodeName":"node-1"})",
     R"("metadata":{"labels":{"a":"2"}}, "spec":{"nodeName":"node-1"})",
     {"AssignedPodUpdatePodLabel"}},
    {"ScaledDown",
     R"("spec":{"containers":[{"resources":{"requests":{"cpu":"2"}}}]})",
     R"("spec":{"containers":[{"resources":{"requests":{"cpu":"1"}}}]})",
     {"TargetPodUpdatePodScaleDown"}},
    {"ScaledDownByAMilliCore",
     R"("spec":{"containers":[{"resources":{"requests":{"cpu":"1"}}}]})",
     R"("spec":{"containers":[{"resources":{"requests":{"cpu":"999m"}}}]})",
     {"TargetPodUpdatePodScaleDown"}},
    {"ScaledUp",
     R"("spec":{"containers":[{"resources":{"requests":{"cpu":"1"}}}]})",
     R"("spec":{"containers":[{"resources":{"requests":{"cpu":"2"}}}]})",
     {"TargetPodUpdatePodScaleUp"}},
    {"RequestInAnotherFormat",
     R"("spec":{"containers":[{"resources":{"requests":{"cpu":"1"}}}]})",
     R"("spec":{"containers":[{"resources":{"requests":{"cpu":"1000m"}}}]})",
     {"TargetPodUpdate"}},
    {"RequestRemoved",
     R"("spec":{"containers":[{"resources":{"requests":{"cpu":"1"}}}]})",
     R"("spec":{"containers":[{"resources":{}}]})",
     {"TargetPodUpdatePodScaleDown"}},
    {"RequestAdded",
     R"("spec":{"containers":[{"resources":{}}]})",
     R"("spec":{"containers":[{"resources":{"requests":{"cpu":"1"}}}]})",
     {"TargetPodUpdatePodScaleUp"}},
    {"OneRequestDownAndOneUp",
     R"("spec":{"containers":[{"resources":{"requests":
          {"cpu":"1","memory":"2"}}}]})",
     R"("spec":{"containers":[{"resources":{"requests":
          {"cpu":"2","memory":"1"}}}]})",
     {"TargetPodUpdatePodScaleDown", "TargetPodUpdatePodScaleUp"}},
    {"ThePodAsAWholeScaledDown",
     R"("spec":{"resources":{"requests":{"cpu":"2"}}})",
     R"("spec":{"resources":{"requests":{"cpu":"1"}}})",
     {"TargetPodUpdatePodScaleDown"}},
    // A resize takes effect when the kubelet has done it.
    {"ResizeRequested",
     R"("spec":{"nodeName":"node-1","containers":[
          {"name":"c","resources":{"requests":{"cpu":"2"}}}]},
        "status":{"containerStatuses":[
          {"name":"c","resources":{"requests":{"cpu":"2"}}}]})",
     R"("spec":{"nodeName":"node-1","containers":[
          {"name":"c","resources":{"requests":{"cpu":"1"}}}]},
        "status":{"containerStatuses":[
          {"name":"c","resources":{"requests":{"cpu":"2"}}}]})",
     {"AssignedPodUpdate"}},
    {"ResizeDone",
     R"("spec":{"nodeName":"node-1","containers":[
          {"name":"c","resources":{"requests":{"cpu":"1"}}}]},
        "status":{"containerStatuses":[
          {"name":"c","resources":{"requests":{"cpu":"2"}}}]})",
     R"("spec":{"nodeName":"node-1","containers":[
          {"name":"c","resources":{"requests":{"cpu":"1"}}}]},
        "status":{"containerStatuses":[
          {"name":"c","resources":{"requests":{"cpu":"1"}}}]})",
     {"AssignedPodUpdatePodScaleDown"}},
    {"LastGateRemoved",
     R"("spec":{"schedulingGates":[{"name":"a"}]})",
     R"("spec":{})",
     {"TargetPodUpdatePodSchedulingGatesEliminated"}},
    {"OneOfTwoGatesRemoved",
     R"("spec":{"schedulingGates":[{"name":"a"},{"name":"b"}]})",
     R"("spec":{"schedulingGates":[{"name":"b"}]})",
     {"TargetPodUpdate"}},
    {"GateAdded",
     R"("spec":{})",
     R"("spec":{"schedulingGates":[{"name":"a"}]})",
     {"TargetPodUpdate"}},
    {"TolerationAdded",
     R"("spec":{"tolerations":[{"key":"a"}]})",
     R"("spec":{"tolerations":[{"key":"a"},{"key":"b"}]})",
     {"TargetPodUpdatePodToleration"}},
    // The API server rejects this change. As upstream, only the number counts.
    {"TolerationChanged",
     R"("spec":{"tolerations":[{"key":"a"}]})",
     R"("spec":{"tolerations":[{"key":"b"}]})",
     {"TargetPodUpdate"}},
    {"LabelAndScaleDown",
     R"("spec":{"containers":[{"resources":{"requests":{"cpu":"2"}}}]})",
     R"("metadata":{"labels":{"a":"1"}},
        "spec":{"containers":[{"resources":{"requests":{"cpu":"1"}}}]})",
     {"TargetPodUpdatePodLabel", "TargetPodUpdatePodScaleDown"}},
    {"Everything",
     R"("spec":{"schedulingGates":[{"name":"a"}],
                "containers":[{"resources":{"requests":{"cpu":"2"}}}]})",
     R"("metadata":{"labels":{"a":"1"}},
        "spec":{"tolerations":[{"key":"a"}],
                "containers":[{"resources":{"requests":{"cpu":"1"}}}]})",
     {"TargetPodUpdatePodLabel", "TargetPodUpdatePodScaleDown",
      "TargetPodUpdatePodSchedulingGatesEliminated",
      "TargetPodUpdatePodToleration"}}};
INSTANTIATE_TEST_SUITE_P(All, PodUpdateTest, ::testing::ValuesIn(kPodUpdates),
                         NameOfUpdateCase);

}  // namespace
}  // namespace minisched
