// Updates of pods and of their status.

#include "lab/contract/messages_testing.h"
#include "lab/contract/pod_testing.h"

namespace minisched {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr char kMayNotChange[] =
    "pod updates may not change fields other than `spec.containers[*].image`,"
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
    "`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was "
    "previously negative)\n";

class PodUpdateTest : public PodContractTest {
 protected:
  Reply PatchSpec(const json& spec) {
    return StrategicPatch("pods/p", {{"spec", spec}});
  }
  Reply PatchStatus(const json& status) {
    return StrategicPatch("pods/p/status", {{"status", status}});
  }
};

TEST_F(PodUpdateTest, AllowsImagesAndDeadlinesToChange) {
  Create("pods", Pod("p"));
  EXPECT_THAT(PatchSpec(R"({"containers": [{"name": "c",
                            "image": "new"}]})"_json),
              Answers(200, R"({"metadata": {"generation": 2}})"_json));
  EXPECT_THAT(PatchSpec({{"activeDeadlineSeconds", 50}}),
              Answers(200, R"({"metadata": {"generation": 3}})"_json));
  EXPECT_THAT(PatchSpec({{"activeDeadlineSeconds", 40}}), Answers(200));
}

TEST_F(PodUpdateTest, LabelsDoNotChangeTheGeneration) {
  Create("pods", Pod("p"));
  EXPECT_THAT(
      MergePatch("pods/p", R"({"metadata": {"labels": {"a": "b"}}})"_json),
      Answers(200, R"({"metadata": {"generation": 1,
                                    "labels": {"a": "b"}}})"_json));
}

TEST_F(PodUpdateTest, AllowsTolerationsToBeAdded) {
  Create("pods", Pod("p"));
  // The patch replaces the list, and the server adds the defaults again.
  EXPECT_THAT(
      PatchSpec(
          R"({"tolerations": [{"key": "k", "operator": "Exists"}]})"_json),
      Answers(200, R"({"spec": {"tolerations": [
        {"key": "k"}, {"key": "node.kubernetes.io/not-ready"},
        {"key": "node.kubernetes.io/unreachable"}]}})"_json));
  EXPECT_THAT(PatchSpec(R"({"tolerations": []})"_json),
              Invalid("Pod", "p",
                      {"spec.tolerations: Forbidden: existing toleration can "
                       "not be modified except its tolerationSeconds"}));
}

// On a real server, a diff of Go structs follows kMayNotChange. The test
// ignores the diff.
TEST_F(PodUpdateTest, RejectsChangesOfOtherFields) {
  Create("pods", Pod("p"));
  for (const char* spec :
       {R"({"schedulerName": "x"})", R"({"nodeName": "n"})",
        R"({"terminationGracePeriodSeconds": 5})", R"({"priority": 5})",
        R"({"nodeSelector": {"a": "b"}})",
        R"({"containers": [{"name": "c",
                            "resources": {"requests": {"cpu": "1"}}}]})"}) {
    EXPECT_THAT(
        PatchSpec(json::parse(spec)),
        AllOf(Refuses(422, "Invalid",
                      StartsWith("Pod \"p\" is invalid: spec: Forbidden: " +
                                 std::string(kMayNotChange)),
                      R"({"causes": [{"field": "spec",
                                  "reason": "FieldValueForbidden"}]})"_json)))
        << spec;
  }
}

TEST_F(PodUpdateTest, RejectsAddedContainersAndEmptyImages) {
  Create("pods", Pod("p"));
  EXPECT_THAT(
      PatchSpec(R"({"containers": [{"name": "d", "image": "i"}]})"_json),
      Invalid("Pod", "p",
              {"spec.containers: Forbidden: pod updates may not add or remove "
               "containers"}));
  EXPECT_THAT(
      PatchSpec(R"({"containers": [{"name": "c", "image": ""}]})"_json),
      Invalid("Pod", "p", {"spec.containers[0].image: Required value"}));
}

TEST_F(PodUpdateTest, AllowsGatesOnlyToBeRemoved) {
  Create("pods", Pod("p", R"({"spec": {"schedulingGates": [
                              {"name": "g"}, {"name": "h"}]}})"_json));
  EXPECT_THAT(
      MergePatch("pods/p", R"({"spec": {"schedulingGates": [
                               {"name": "g"}, {"name": "new"}]}})"_json),
      Invalid("Pod", "p",
              {"spec.schedulingGates[1].name: Forbidden: only deletion is "
               "allowed, but found new scheduling gate 'new'"}));
  EXPECT_THAT(PatchSpec(R"({"schedulingGates": [
                            {"$patch": "delete", "name": "g"}]})"_json),
              Answers(200, R"({"metadata": {"generation": 2}, "spec":
                               {"schedulingGates": [{"name": "h"}]}})"_json));
  EXPECT_THAT(MergePatch("pods/p", R"({"spec": {"schedulingGates": []}})"_json),
              Answers(200, R"({"spec": {"schedulingGates": null}})"_json));
}

TEST_F(PodUpdateTest, AllowsAGatedPodToChangeItsNodeSelector) {
  Create("pods", Pod("p", R"({"spec": {"schedulingGates":
                                       [{"name": "g"}]}})"_json));
  EXPECT_THAT(PatchSpec(R"({"nodeSelector": {"a": "b"}})"_json),
              Answers(200, R"({"metadata": {"generation": 2}})"_json));
}

TEST_F(PodUpdateTest, APatchOfThePodKeepsItsStatus) {
  const json pod = Create("pods", Pod("p"));
  EXPECT_THAT(MergePatch("pods/p", R"({"status": {"phase": "Running"}})"_json),
              Answers(200, pod));
}

TEST_F(PodUpdateTest, PatchesTheStatus) {
  Create("pods", Pod("p"));
  EXPECT_THAT(PatchStatus(R"({"phase": "Running", "podIP": "10.0.0.1",
        "nominatedNodeName": "n", "conditions": [{"type": "PodScheduled",
        "status": "False", "reason": "Unschedulable", "message": "m"}]})"_json),
              Answers(200, R"({"metadata": {"generation": 1}, "status": {
        "phase": "Running", "nominatedNodeName": "n", "conditions": [
        {"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
         "message": "m"}], "qosClass": "BestEffort"}})"_json));
  EXPECT_THAT(Get("pods/p/status"),
              Answers(200, R"({"kind": "Pod", "spec": "...",
                               "status": {"phase": "Running"}})"_json));
}

TEST_F(PodUpdateTest, AnUpdateOfTheStatusKeepsTheSpec) {
  json pod = Create("pods", Pod("p"));
  pod["spec"]["schedulerName"] = "other";
  pod["metadata"]["labels"] = {{"a", "b"}};
  pod["status"]["phase"] = "Running";
  EXPECT_THAT(Put("pods/p/status", pod), Answers(200, R"({
    "metadata": {"labels": {"a": "b"}},
    "spec": {"schedulerName": "contract"},
    "status": {"phase": "Running"}})"_json));
  EXPECT_THAT(Put("pods/p/status", pod), Refuses(409, "Conflict", testing::_));
}

TEST_F(PodUpdateTest, RejectsAStatusPatchOfAMissingPod) {
  EXPECT_THAT(StrategicPatch("pods/none/status", json::object()),
              Refuses(404, "NotFound", "pods \"none\" not found"));
}

TEST_F(PodUpdateTest, TimesOfConditionsMayBeNull) {
  Create("pods", Pod("p"));
  const Reply reply =
      PatchStatus(R"({"conditions": [{"type": "A", "status": "True"}]})"_json);
  // The server returns these times even if they are null.
  const json& condition = reply.body.at("status").at("conditions").at(0);
  EXPECT_TRUE(condition.at("lastTransitionTime").is_null());
  EXPECT_TRUE(condition.at("lastProbeTime").is_null());
}

}  // namespace
}  // namespace minisched
