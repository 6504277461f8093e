// Bindings of pods to nodes.

#include "lab/contract/contract_testing.h"

namespace minisched {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class BindingTest : public ContractTest {
 protected:
  // Returns a Binding to this node, without a name. The server does not check
  // that the node exists.
  static json To(const std::string& node) {
    return {{"target", {{"kind", "Node"}, {"name", node}}}};
  }

  Reply Bind(const std::string& pod, const json& binding) {
    return Post("pods/" + pod + "/binding", Named(pod, binding));
  }

  static testing::Matcher<const Reply&> Conflicts(const std::string& pod,
                                                  const std::string& why) {
    return Refuses(
        409, "Conflict",
        "Operation cannot be fulfilled on pods/binding \"" + pod + "\": " + why,
        {{"name", pod}, {"kind", "pods/binding"}});
  }
};

TEST_F(BindingTest, SetsNodeNameAndPodScheduled) {
  const json pod = Create("pods", Pod("p"));
  EXPECT_THAT(Bind("p", To("contract-n")), Answers(201, R"({
    "kind": "Status", "apiVersion": "v1", "metadata": {},
    "status": "Success", "code": 201})"_json));
  const json bound = Read("pods/p");
  EXPECT_THAT(bound, JsonHas(R"({
    "metadata": {"generation": 1},
    "spec": {"nodeName": "contract-n"},
    "status": {"phase": "Pending", "conditions": [
      {"type": "PodScheduled", "status": "True", "reason": null,
       "lastTransitionTime": "..."}]}})"_json));
  EXPECT_NE(Version(bound), Version(pod));
}

TEST_F(BindingTest, AcceptsBindingsPostedToTheCollection) {
  Create("pods", Pod("p"));
  EXPECT_THAT(Post("bindings", Named("p", To("contract-n"))),
              Answers(201, R"({"kind": "Status", "status": "Success"})"_json));
  EXPECT_EQ(Read("pods/p").at("spec").at("nodeName"), "contract-n");
  EXPECT_THAT(Post("bindings", To("contract-n")),
              Refuses(400, "BadRequest", "Name parameter required."));
  EXPECT_THAT(Post("bindings", Named("none", To("contract-n"))),
              Refuses(404, "NotFound", "pods \"none\" not found"));
}

TEST_F(BindingTest, CopiesAnnotationsToThePod) {
  Create("pods",
         Pod("p", R"({"metadata": {"annotations": {"old": "1"}}})"_json));
  json binding = To("contract-n");
  binding["metadata"] = R"({"annotations": {"new": "2"},
                            "labels": {"topology.kubernetes.io/zone": "z",
                                       "other": "x"}})"_json;
  EXPECT_THAT(Bind("p", binding), Answers(201));
  EXPECT_THAT(Read("pods/p").at("metadata").at("annotations"),
              JsonHas(R"({"old": "1", "new": "2"})"_json));
}

TEST_F(BindingTest, TargetKindIsOptional) {
  Create("pods", Pod("p"));
  EXPECT_THAT(Bind("p", R"({"target": {"name": "contract-n"}})"_json),
              Answers(201));
}

TEST_F(BindingTest, AcceptsAMatchingUidAndVersion) {
  const json pod = Create("pods", Pod("p"));
  json binding = To("contract-n");
  binding["metadata"] = {{"uid", Uid(pod)}, {"resourceVersion", Version(pod)}};
  EXPECT_THAT(Bind("p", binding), Answers(201));
}

TEST_F(BindingTest, RejectsAnotherUid) {
  const json pod = Create("pods", Pod("p"));
  json binding = To("contract-n");
  binding["metadata"] = {{"uid", "x"}};
  EXPECT_THAT(
      Bind("p", binding),
      Refuses(409, "Conflict",
              AllOf(StartsWith("Operation cannot be fulfilled on pods \"p\": "),
                    HasSubstr("Precondition failed: UID in precondition: x, "
                              "UID in object meta: " +
                              Uid(pod))),
              {{"name", "p"}, {"kind", "pods"}}));
  EXPECT_EQ(Read("pods/p"), pod);
}

TEST_F(BindingTest, RejectsAStaleVersion) {
  const json pod = Create("pods", Pod("p"));
  json binding = To("contract-n");
  binding["metadata"] = {{"resourceVersion", "1"}};
  EXPECT_THAT(Bind("p", binding),
              Refuses(409, "Conflict",
                      HasSubstr("Precondition failed: ResourceVersion in "
                                "precondition: 1, ResourceVersion in object "
                                "meta: " +
                                Version(pod))));
}

TEST_F(BindingTest, RejectsASecondBinding) {
  Create("pods", Pod("p"));
  Bind("p", To("contract-n"));
  const auto refused =
      Conflicts("p", "pod p is already assigned to node \"contract-n\"");
  EXPECT_THAT(Bind("p", To("contract-m")), refused);
  EXPECT_THAT(Bind("p", To("contract-n")), refused);
}

TEST_F(BindingTest, RejectsAGatedPod) {
  Create("pods", Pod("p", R"({"spec": {"schedulingGates":
                                       [{"name": "g"}]}})"_json));
  EXPECT_THAT(Bind("p", To("contract-n")),
              Conflicts("p", "pod p has non-empty .spec.schedulingGates"));
}

TEST_F(BindingTest, RejectsAPodThatIsBeingDeleted) {
  Create("pods", Pod("p", R"({"metadata": {"finalizers": ["x.y/z"]}})"_json));
  Delete("pods/p");
  EXPECT_THAT(
      Bind("p", To("contract-n")),
      Conflicts("p", "pod p is being deleted, cannot be assigned to a host"));
  Release("pods/p");
}

TEST_F(BindingTest, RejectsAPodThatDoesNotExist) {
  EXPECT_THAT(Bind("none", To("contract-n")),
              Refuses(404, "NotFound", "pods \"none\" not found",
                      {{"name", "none"}, {"kind", "pods"}}));
}

TEST_F(BindingTest, RejectsAnotherName) {
  Create("pods", Pod("p"));
  EXPECT_THAT(Post("pods/p/binding", Named("q", To("contract-n"))),
              Refuses(400, "BadRequest",
                      "name in URL does not match name in Binding object"));
  // A Binding without a name does not match either.
  EXPECT_THAT(Post("pods/p/binding", To("contract-n")),
              Refuses(400, "BadRequest",
                      "name in URL does not match name in Binding object"));
}

TEST_F(BindingTest, RejectsAnInvalidTarget) {
  Create("pods", Pod("p"));
  EXPECT_THAT(Bind("p", R"({"target": {"kind": "Pod", "name": "n"}})"_json),
              Refuses(500, "",
                      "target.kind: Unsupported value: \"Pod\": supported "
                      "values: \"Node\", \"<empty>\""));
  EXPECT_THAT(Bind("p", json::object()),
              Refuses(500, "", "target.name: Required value"));
}

TEST_F(BindingTest, ADryRunBindsNothing) {
  const json pod = Create("pods", Pod("p"));
  EXPECT_THAT(Post("pods/p/binding?dryRun=All", Named("p", To("contract-n"))),
              Answers(201));
  EXPECT_EQ(Read("pods/p"), pod);
}

// A bound pod needs no nominated node.
TEST_F(BindingTest, ClearsTheNominatedNode) {
  Create("pods", Pod("p"));
  const json nomination = R"({"status": {"nominatedNodeName": "n"}})"_json;
  EXPECT_THAT(MergePatch("pods/p/status", nomination), Answers(200));
  EXPECT_THAT(Bind("p", To("contract-n")), Answers(201));
  EXPECT_THAT(Read("pods/p"),
              JsonHas(R"({"status": {"nominatedNodeName": null}})"_json));
}

TEST_F(BindingTest, ANullInAPatchClearsTheNominatedNode) {
  Create("pods", Pod("p"));
  EXPECT_THAT(StrategicPatch("pods/p/status",
                             R"({"status": {"nominatedNodeName": "n"}})"_json),
              Answers(200, R"({"status": {"nominatedNodeName": "n"}})"_json));
  EXPECT_THAT(StrategicPatch("pods/p/status",
                             R"({"status": {"nominatedNodeName": null}})"_json),
              Answers(200, R"({"status": {"nominatedNodeName": null}})"_json));
}

TEST_F(BindingTest, RejectsAnotherKind) {
  EXPECT_THAT(Post("pods/p/binding", Pod("p")),
              Refuses(400, "BadRequest",
                      StartsWith("Pod in version \"v1\" cannot be handled as a "
                                 "Binding: ")));
}

}  // namespace
}  // namespace minisched
