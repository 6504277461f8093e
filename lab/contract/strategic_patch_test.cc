// Strategic merge patches: lists that are merged by key, and directives.

#include "lab/contract/contract_testing.h"

namespace minisched {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class StrategicPatchTest : public ContractTest {
 protected:
  void SetUp() override {
    Create("deployments", Named("d", R"({
      "spec": {"replicas": 0, "selector": {"matchLabels": {"a": "b"}},
        "strategy": {"type": "RollingUpdate",
                     "rollingUpdate": {"maxSurge": 1}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": {
          "tolerations": [{"key": "t", "operator": "Exists"}],
          "volumes": [{"name": "v", "emptyDir": {}}],
          "containers": [
            {"name": "a", "image": "i", "command": ["x", "y"],
             "env": [{"name": "X", "value": "1"}, {"name": "Y", "value": "2"}],
             "ports": [{"containerPort": 80}, {"containerPort": 81}]},
            {"name": "b", "image": "i"}]}}}})"_json));
  }

  // Patches the spec of the deployment's pod template, and expects the new spec
  // to match `expected`.
  void Check(const char* patch, const char* expected) {
    EXPECT_THAT(StrategicPatch("deployments/d", InTemplate(json::parse(patch))),
                Answers(200, InTemplate(json::parse(expected))))
        << patch;
  }

  static json InTemplate(const json& spec) {
    return {{"spec", {{"template", {{"spec", spec}}}}}};
  }
};

TEST_F(StrategicPatchTest, MergesContainersByName) {
  Check(R"({"containers": [{"name": "b", "image": "new"}]})",
        R"({"containers": [{"name": "a", "image": "i"},
                           {"name": "b", "image": "new"}]})");
}

TEST_F(StrategicPatchTest, NewItemsComeFirst) {
  Check(R"({"containers": [{"name": "c", "image": "i"}]})",
        R"({"containers": [{"name": "c"}, {"name": "a"}, {"name": "b"}]})");
}

TEST_F(StrategicPatchTest, MergesEnvAndPortsByKey) {
  Check(R"({"containers": [{"name": "a",
             "env": [{"name": "Y", "value": "3"}, {"name": "Z", "value": "4"}],
             "ports": [{"containerPort": 81, "name": "http"}]}]})",
        R"({"containers": [{"name": "a",
             "env": [{"name": "X"}, {"name": "Y", "value": "3"},
                     {"name": "Z", "value": "4"}],
             "ports": [{"containerPort": 80},
                       {"containerPort": 81, "name": "http"}]},
             {"name": "b"}]})");
}

TEST_F(StrategicPatchTest, ListsWithoutAKeyAreReplaced) {
  Check(R"({"containers": [{"name": "a", "command": ["z"]}],
            "tolerations": [{"key": "u", "operator": "Exists"}]})",
        R"({"containers": [{"name": "a", "command": ["z"]}, {"name": "b"}],
            "tolerations": [{"key": "u"}]})");
}

TEST_F(StrategicPatchTest, DeletesAnItem) {
  Check(R"({"containers": [{"name": "a", "$patch": "delete"}]})",
        R"({"containers": [{"name": "b"}]})");
}

TEST_F(StrategicPatchTest, ReplacesAList) {
  Check(R"({"containers": [{"name": "z", "image": "i"},
                           {"$patch": "replace"}]})",
        R"({"containers": [{"name": "z"}]})");
}

TEST_F(StrategicPatchTest, SetsTheOrderOfElements) {
  Check(R"({"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}],
            "containers": [{"name": "a", "image": "new"}]})",
        R"({"containers": [{"name": "b"}, {"name": "a", "image": "new"}]})");
}

// $retainKeys lists the keys that the patched map keeps.
TEST_F(StrategicPatchTest, RetainKeysRemovesOtherKeys) {
  Check(R"({"volumes": [{"name": "v", "$retainKeys": ["name", "hostPath"],
                         "hostPath": {"path": "/x"}}]})",
        R"({"volumes": [{"name": "v", "emptyDir": null,
                         "hostPath": {"path": "/x"}}]})");
  EXPECT_THAT(StrategicPatch("deployments/d", R"({"spec": {"strategy": {
                "$retainKeys": ["type"], "type": "Recreate"}}})"_json),
              Answers(200, R"({"spec": {"strategy": {
                "type": "Recreate", "rollingUpdate": null}}})"_json));
}

TEST_F(StrategicPatchTest, NullRemovesAField) {
  Check(R"({"volumes": null, "containers": [{"name": "a", "env": null}]})",
        R"({"volumes": null, "containers": [{"name": "a", "env": null},
                                            {"name": "b"}]})");
}

TEST_F(StrategicPatchTest, MergesListsOfPlainValues) {
  Create("configmaps", Named("c", R"({"metadata": {"finalizers":
                                      ["x.y/a", "x.y/b"]}})"_json));
  const auto check = [&](const char* metadata, const json& expected) {
    EXPECT_THAT(
        StrategicPatch("configmaps/c", {{"metadata", json::parse(metadata)}}),
        Answers(200, {{"metadata", {{"finalizers", expected}}}}))
        << metadata;
  };
  check(R"({"finalizers": ["x.y/c"]})", {"x.y/c", "x.y/a", "x.y/b"});
  check(R"({"$deleteFromPrimitiveList/finalizers": ["x.y/a"]})",
        {"x.y/c", "x.y/b"});
  check(R"({"$setElementOrder/finalizers": ["x.y/b", "x.y/d", "x.y/c"],
            "finalizers": ["x.y/d"]})",
        {"x.y/b", "x.y/d", "x.y/c"});
  check(R"({"finalizers": null})", nullptr);
}

TEST_F(StrategicPatchTest, ReplacesAnObject) {
  Create("configmaps", Named("c", R"({"data": {"k": "v"}})"_json));
  EXPECT_THAT(StrategicPatch("configmaps/c",
                             R"({"data": {"$patch": "replace",
                                          "l": "w"}})"_json),
              Answers(200, R"({"data": {"k": null, "l": "w"}})"_json));
  EXPECT_THAT(
      StrategicPatch("configmaps/c", R"({"data": {"$patch": "delete"}})"_json),
      Answers(200, R"({"data": null})"_json));
}

TEST_F(StrategicPatchTest, MergesPodConditionsByType) {
  Create("pods", Pod("p"));
  const auto patch = [&](const char* status) {
    return StrategicPatch("pods/p/status", {{"status", json::parse(status)}});
  };
  EXPECT_THAT(patch(R"({"conditions": [{"type": "A", "status": "True"}]})"),
              Answers(200));
  EXPECT_THAT(patch(R"({"conditions": [{"type": "A", "status": "False"},
                               {"type": "B", "status": "True"}]})"),
              Answers(200, R"({"status": {"phase": "Pending", "conditions": [
                       {"type": "A", "status": "False"},
                       {"type": "B", "status": "True"}]}})"_json));
  // kube-scheduler sends patches of this form.
  EXPECT_THAT(
      patch(R"({"$setElementOrder/conditions": [{"type": "B"}, {"type": "A"}],
                "conditions": [{"type": "B", "reason": "R"}],
                "nominatedNodeName": "n"})"),
      Answers(200, R"({"status": {"nominatedNodeName": "n", "conditions": [
                       {"type": "B", "status": "True", "reason": "R"},
                       {"type": "A", "status": "False"}]}})"_json));
}

TEST_F(StrategicPatchTest, RejectsAnItemWithoutItsMergeKey) {
  EXPECT_THAT(
      StrategicPatch("deployments/d",
                     InTemplate(R"({"containers": [{"image": "x"}]})"_json)),
      Refuses(500, "", HasSubstr("does not contain declared merge key: name")));
}

TEST_F(StrategicPatchTest, RejectsAnUnknownDirective) {
  EXPECT_THAT(StrategicPatch("deployments/d",
                             R"({"metadata": {"$patch": "nope"}})"_json),
              Refuses(500, "", StartsWith("unknown patch type: nope")));
}

TEST_F(StrategicPatchTest, RejectsInvalidRetainKeys) {
  for (const char* strategy :
       {R"({"$retainKeys": "type", "type": "Recreate"})",
        R"({"$retainKeys": ["rollingUpdate"], "type": "Recreate"})"}) {
    EXPECT_THAT(
        StrategicPatch("deployments/d",
                       {{"spec", {{"strategy", json::parse(strategy)}}}}),
        Refuses(400, "BadRequest", "invalid patch format of retainKeys"))
        << strategy;
  }
}

TEST_F(StrategicPatchTest, RejectsInvalidListDirectives) {
  const auto expect = [&](const char* patch, int code, const char* reason,
                          const std::string& message) {
    EXPECT_THAT(StrategicPatch("deployments/d", InTemplate(json::parse(patch))),
                Refuses(code, reason, StartsWith(message)))
        << patch;
  };
  const std::string expected = "expected a []interface {}, but received a ";
  expect(R"({"$setElementOrder/containers": "a"})", 500, "",
         expected + "string");
  expect(R"({"$setElementOrder/containers": null})", 500, "",
         expected + "%!s(<nil>)");
  expect(R"({"$setElementOrder/containers": 5})", 500, "", expected + "int64");
  expect(R"({"$setElementOrder/containers": {}})", 500, "",
         expected + "map[string]interface {}");
  expect(R"({"$setElementOrder/containers": [], "containers": "a"})", 500, "",
         expected + "string");
  expect(R"({"$setElementOrder/restartPolicy": []})", 500, "",
         expected + "string");
  expect(R"({"$setElementOrder/containers": [{"name": "a"}],
             "containers": [{"name": "z"}]})",
         500, "", "The order in patch list:\n");
  expect(R"({"$setElementOrder": []})", 400, "BadRequest",
         "invalid patch format of setElementOrder list");
  expect(R"({"$deleteFromPrimitiveList": []})", 400, "BadRequest",
         "invalid patch format of primitive list");
}

TEST_F(StrategicPatchTest, RejectsAValueOfTheWrongType) {
  EXPECT_THAT(
      StrategicPatch("deployments/d", R"({"spec": {"paused": "x"}})"_json),
      Refuses(422, "Invalid", StartsWith(" \"\" is invalid: patch: ")));
}

}  // namespace
}  // namespace minisched
