// Binding pods to nodes: what a scheduler is for.

#include "lab/contract/contract_testing.h"

namespace minisched {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class BindingTest : public ContractTest {
 protected:
  // A node that isn't there, which nobody minds.
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

TEST_F(BindingTest, Binds) {
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

TEST_F(BindingTest, ThroughTheCollection) {
  Create("pods", Pod("p"));
  EXPECT_THAT(Post("bindings", Named("p", To("contract-n"))),
              Answers(201, R"({"kind": "Status", "status": "Success"})"_json));
  EXPECT_EQ(Read("pods/p").at("spec").at("nodeName"), "contract-n");
  EXPECT_THAT(Post("bindings", To("contract-n")),
              Refuses(400, "BadRequest", "Name parameter required."));
  EXPECT_THAT(Post("bindings", Named("none", To("contract-n"))),
              Refuses(404, "NotFound", "pods \"none\" not found"));
}

TEST_F(BindingTest, TakesLabelsAndAnnotationsAlong) {
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

TEST_F(BindingTest, KindMayBeLeftOut) {
  Create("pods", Pod("p"));
  EXPECT_THAT(Bind("p", R"({"target": {"name": "contract-n"}})"_json),
              Answers(201));
}

TEST_F(BindingTest, RightUid) {
  const json pod = Create("pods", Pod("p"));
  json binding = To("contract-n");
  binding["metadata"] = {{"uid", Uid(pod)}, {"resourceVersion", Version(pod)}};
  EXPECT_THAT(Bind("p", binding), Answers(201));
}

TEST_F(BindingTest, UidOfAnother) {
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

TEST_F(BindingTest, StaleVersion) {
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

TEST_F(BindingTest, BoundTwice) {
  Create("pods", Pod("p"));
  Bind("p", To("contract-n"));
  const auto refused =
      Conflicts("p", "pod p is already assigned to node \"contract-n\"");
  EXPECT_THAT(Bind("p", To("contract-m")), refused);
  EXPECT_THAT(Bind("p", To("contract-n")), refused);
}

TEST_F(BindingTest, Gated) {
  Create("pods", Pod("p", R"({"spec": {"schedulingGates":
                                       [{"name": "g"}]}})"_json));
  EXPECT_THAT(Bind("p", To("contract-n")),
              Conflicts("p", "pod p has non-empty .spec.schedulingGates"));
}

TEST_F(BindingTest, BeingDeleted) {
  Create("pods", Pod("p", R"({"metadata": {"finalizers": ["x.y/z"]}})"_json));
  Delete("pods/p");
  EXPECT_THAT(
      Bind("p", To("contract-n")),
      Conflicts("p", "pod p is being deleted, cannot be assigned to a host"));
  Release("pods/p");
}

TEST_F(BindingTest, NoSuchPod) {
  EXPECT_THAT(Bind("none", To("contract-n")),
              Refuses(404, "NotFound", "pods \"none\" not found",
                      {{"name", "none"}, {"kind", "pods"}}));
}

TEST_F(BindingTest, NameOfAnother) {
  Create("pods", Pod("p"));
  EXPECT_THAT(Post("pods/p/binding", Named("q", To("contract-n"))),
              Refuses(400, "BadRequest",
                      "name in URL does not match name in Binding object"));
  // None is another, too.
  EXPECT_THAT(Post("pods/p/binding", To("contract-n")),
              Refuses(400, "BadRequest",
                      "name in URL does not match name in Binding object"));
}

TEST_F(BindingTest, TargetThatIsNone) {
  Create("pods", Pod("p"));
  EXPECT_THAT(Bind("p", R"({"target": {"kind": "Pod", "name": "n"}})"_json),
              Refuses(500, "",
                      "target.kind: Unsupported value: \"Pod\": supported "
                      "values: \"Node\", \"<empty>\""));
  EXPECT_THAT(Bind("p", json::object()),
              Refuses(500, "", "target.name: Required value"));
}

TEST_F(BindingTest, DryRun) {
  const json pod = Create("pods", Pod("p"));
  EXPECT_THAT(Post("pods/p/binding?dryRun=All", Named("p", To("contract-n"))),
              Answers(201));
  EXPECT_EQ(Read("pods/p"), pod);
}

// A pod that has a node needs no other to be kept for it.
TEST_F(BindingTest, EndsTheNomination) {
  Create("pods", Pod("p"));
  const json nomination = R"({"status": {"nominatedNodeName": "n"}})"_json;
  EXPECT_THAT(MergePatch("pods/p/status", nomination), Answers(200));
  EXPECT_THAT(Bind("p", To("contract-n")), Answers(201));
  EXPECT_THAT(Read("pods/p"),
              JsonHas(R"({"status": {"nominatedNodeName": null}})"_json));
}

TEST_F(BindingTest, WrongKind) {
  EXPECT_THAT(Post("pods/p/binding", Pod("p")),
              Refuses(400, "BadRequest",
                      StartsWith("Pod in version \"v1\" cannot be handled as a "
                                 "Binding: ")));
}

}  // namespace
}  // namespace minisched
