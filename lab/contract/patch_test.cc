// JSON patches, merge patches, and the checks of all kinds of patches.

#include "lab/contract/contract_testing.h"

namespace minisched {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class PatchTest : public ContractTest {
 protected:
  void SetUp() override {
    object_ = Create("configmaps", Named("a", R"({"data": {"k": "v"}})"_json));
  }

  Reply SendPatch(const std::string& type, const std::string& patch) {
    return Send("PATCH", "configmaps/a", patch, {{"Content-Type", type}});
  }

  json object_;
};

constexpr char kJson[] = "application/json-patch+json";
constexpr char kMerge[] = "application/merge-patch+json";
constexpr char kStrategic[] = "application/strategic-merge-patch+json";

TEST_F(PatchTest, AppliesJsonPatches) {
  EXPECT_THAT(JsonPatch("configmaps/a", R"([
                {"op": "test", "path": "/data/k", "value": "v"},
                {"op": "add", "path": "/data/l", "value": "w"},
                {"op": "copy", "from": "/data/l", "path": "/data/m"},
                {"op": "move", "from": "/data/k", "path": "/data/n"},
                {"op": "remove", "path": "/data/l"},
                {"op": "replace", "path": "/data/m", "value": "x"},
                {"op": "add", "path": "/metadata/labels", "value": {}},
                {"op": "add", "path": "/metadata/labels/a.b~1c",
                 "value": "1"}])"_json),
              Answers(200, R"({
                "metadata": {"labels": {"a.b/c": "1"}},
                "data": {"k": null, "l": null, "m": "x", "n": "v"}})"_json));
}

TEST_F(PatchTest, AppliesJsonPatchesToLists) {
  Create("pods", Pod("p", R"({"metadata": {"finalizers":
                              ["x.y/a", "x.y/b"]}})"_json));
  const auto finalizers = [](const json& list) {
    return Answers(200, {{"metadata", {{"finalizers", list}}}});
  };
  EXPECT_THAT(JsonPatch("pods/p", R"([{"op": "add", "value": "x.y/0",
                         "path": "/metadata/finalizers/0"}])"_json),
              finalizers({"x.y/0", "x.y/a", "x.y/b"}));
  EXPECT_THAT(JsonPatch("pods/p", R"([{"op": "add", "value": "x.y/c",
                         "path": "/metadata/finalizers/-"}])"_json),
              finalizers({"x.y/0", "x.y/a", "x.y/b", "x.y/c"}));
  EXPECT_THAT(JsonPatch("pods/p", R"([{"op": "remove",
                         "path": "/metadata/finalizers/1"}])"_json),
              finalizers({"x.y/0", "x.y/b", "x.y/c"}));
  Release("pods/p");
}

TEST_F(PatchTest, RejectsAJsonPatchThatFails) {
  for (const char* patch :
       {R"([{"op": "test", "path": "/data/k", "value": "no"}])",
        R"([{"op": "remove", "path": "/data/none"}])",
        R"([{"op": "add", "path": "/none/x", "value": "1"}])",
        R"([{"op": "nope", "path": "/data/k", "value": "1"}])"}) {
    EXPECT_THAT(SendPatch(kJson, patch),
                Refuses(422, "Invalid",
                        "the server rejected our request due to an error in "
                        "our request"))
        << patch;
  }
  EXPECT_EQ(Read("configmaps/a"), object_);
}

// RFC 6902 forbids this patch, but kube-apiserver accepts it.
TEST_F(PatchTest, JsonPatchMayReplaceAMissingField) {
  EXPECT_THAT(JsonPatch("configmaps/a", R"([{"op": "replace", "value": "1",
                                        "path": "/data/new"}])"_json),
              Answers(200, R"({"data": {"new": "1"}})"_json));
}

TEST_F(PatchTest, AppliesMergePatches) {
  EXPECT_THAT(MergePatch("configmaps/a", R"({
                "metadata": {"labels": {"x": "1", "y": "2"}},
                "data": {"k": null, "l": "w"}})"_json),
              Answers(200, R"({"metadata": {"labels": {"x": "1", "y": "2"}},
                               "data": {"k": null, "l": "w"}})"_json));
  EXPECT_THAT(MergePatch("configmaps/a",
                         R"({"metadata": {"labels": {"x": null}}})"_json),
              Answers(200, R"({"metadata": {"labels": {"x": null,
                               "y": "2"}}})"_json));
}

TEST_F(PatchTest, MergePatchReplacesLists) {
  Create("pods", Pod("p"));
  EXPECT_THAT(MergePatch("pods/p/status", R"({"status": {"conditions": [
                {"type": "A", "status": "True"}]}})"_json),
              Answers(200));
  EXPECT_THAT(
      MergePatch("pods/p/status", R"({"status": {"conditions": [
                {"type": "B", "status": "True"}]}})"_json),
      Answers(200, R"({"status": {"conditions": [{"type": "B"}]}})"_json));
}

TEST_F(PatchTest, APatchWithoutChangesKeepsTheVersion) {
  for (const auto& [type, patch] : {std::pair{kMerge, "{}"},
                                    {kMerge, R"({"data": {"k": "v"}})"},
                                    {kJson, "[]"},
                                    {kStrategic, R"({"data": {"k": "v"}})"}}) {
    EXPECT_EQ(Version(SendPatch(type, patch).body), Version(object_)) << patch;
  }
}

TEST_F(PatchTest, IgnoresFieldsThatTheServerSets) {
  EXPECT_THAT(MergePatch("configmaps/a", R"({"metadata": {
                "creationTimestamp": null, "generation": 99,
                "selfLink": "/x"}})"_json),
              Answers(200, object_));
}

TEST_F(PatchTest, RejectsAStaleVersion) {
  EXPECT_THAT(
      MergePatch("configmaps/a",
                 R"({"metadata": {"resourceVersion": "1"}})"_json),
      Refuses(409, "Conflict",
              "Operation cannot be fulfilled on configmaps \"a\": the object "
              "has been modified; please apply your changes to the latest "
              "version and try again"));
  EXPECT_THAT(MergePatch("configmaps/a",
                         {{"metadata", {{"resourceVersion", Version(object_)}}},
                          {"data", {{"k", "w"}}}}),
              Answers(200, R"({"data": {"k": "w"}})"_json));
}

TEST_F(PatchTest, RejectsChangesOfUidNameAndNamespace) {
  EXPECT_THAT(
      MergePatch("configmaps/a", R"({"metadata": {"uid": "1"}})"_json),
      Invalid("ConfigMap", "a",
              {"metadata.uid: Invalid value: \"1\": field is immutable"}));
  EXPECT_THAT(MergePatch("configmaps/a", R"({"metadata": {"name": "z"}})"_json),
              Refuses(400, "BadRequest",
                      "the name of the object (z) does not match the name on "
                      "the URL (a)"));
  EXPECT_THAT(
      MergePatch("configmaps/a", R"({"metadata": {"namespace": "z"}})"_json),
      Refuses(400, "BadRequest",
              "the namespace of the provided object does not match the "
              "namespace sent on the request"));
}

// An empty or missing kind keeps the object's kind.
TEST_F(PatchTest, RejectsChangesOfTheType) {
  const auto refuses = [&](const std::string& why) {
    return Refuses(422, "Invalid",
                   AllOf(StartsWith(" \"\" is invalid: patch: Invalid value: "),
                         HasSubstr(why)));
  };
  for (const auto& [kind, version] : {std::pair{"Foo", "v1"},
                                      {"ConfigMap", "v2"},
                                      {"ConfigMap", "apps/v1"}}) {
    const json changed = {{"kind", kind}, {"apiVersion", version}};
    const std::string why = std::string("no kind \"") + kind +
                            "\" is registered for version \"" + version + "\"";
    EXPECT_THAT(MergePatch("configmaps/a", changed), refuses(why));
    EXPECT_THAT(
        JsonPatch(
            "configmaps/a",
            {{{"op", "replace"}, {"path", "/kind"}, {"value", kind}},
             {{"op", "replace"}, {"path", "/apiVersion"}, {"value", version}}}),
        refuses(why));
  }
  EXPECT_THAT(MergePatch("configmaps/a", {{"kind", "Pod"}}), refuses(""));
  for (const json& kind : {json(nullptr), json("")}) {
    EXPECT_THAT(MergePatch("configmaps/a", {{"kind", kind}}),
                Answers(200, object_));
  }
  EXPECT_THAT(
      JsonPatch("configmaps/a", R"([{"op": "remove", "path": "/kind"}])"_json),
      Answers(200, object_));
  const auto without_version =
      Refuses(400, "BadRequest",
              "the name of the object (a based on URL) was undeterminable: "
              "name must be provided");
  EXPECT_THAT(MergePatch("configmaps/a", {{"apiVersion", nullptr}}),
              without_version);
  EXPECT_THAT(JsonPatch("configmaps/a",
                        R"([{"op": "remove", "path": "/apiVersion"}])"_json),
              without_version);
}

TEST_F(PatchTest, StrategicPatchIgnoresTheType) {
  for (const char* patch :
       {R"({"kind": "Foo"})", R"({"kind": "Pod"})", R"({"kind": null})",
        R"({"apiVersion": "v2"})", R"({"apiVersion": null})",
        R"({"apiVersion": "apps/v1", "kind": "Deployment"})"}) {
    EXPECT_THAT(SendPatch(kStrategic, patch), Answers(200, object_)) << patch;
  }
  EXPECT_THAT(SendPatch(kStrategic, R"({"kind": 5})"),
              Refuses(422, "Invalid",
                      StartsWith(" \"\" is invalid: patch: Invalid value: ")));
}

TEST_F(PatchTest, RejectsTooManyOperations) {
  const json operation = {{"op", "test"}, {"path", "/kind"}, {"value", "x"}};
  EXPECT_THAT(JsonPatch("configmaps/a", json(10'001, operation)),
              Refuses(413, "RequestEntityTooLarge",
                      "Request entity too large: The allowed maximum "
                      "operations in a JSON patch is 10000, got 10001"));
}

TEST_F(PatchTest, ResultMustBeValid) {
  EXPECT_THAT(MergePatch("configmaps/a",
                         R"({"metadata": {"labels": {"x": "a b"}}})"_json),
              Invalid("ConfigMap", "a",
                      {"metadata.labels: Invalid value: \"a b\": a valid "
                       "label..."}));
  EXPECT_EQ(Read("configmaps/a"), object_);
}

TEST_F(PatchTest, ResultMustHaveTheRightTypes) {
  EXPECT_THAT(MergePatch("configmaps/a", R"({"data": {"k": 5}})"_json),
              Refuses(422, "Invalid",
                      AllOf(StartsWith(" \"\" is invalid: patch: Invalid "
                                       "value: "),
                            HasSubstr("json: cannot unmarshal number "))));
}

TEST_F(PatchTest, RejectsAPatchOfAMissingObject) {
  EXPECT_THAT(MergePatch("configmaps/none", R"({"data": {}})"_json),
              Refuses(404, "NotFound", "configmaps \"none\" not found"));
}

TEST_F(PatchTest, RejectsAPatchThatIsNotJson) {
  for (const char* type : {kMerge, kJson, kStrategic}) {
    EXPECT_THAT(SendPatch(type, "{bad"),
                Refuses(400, "BadRequest", testing::_));
  }
}

TEST_F(PatchTest, RejectsJsonThatIsNotAPatch) {
  EXPECT_THAT(SendPatch(kJson, "{}"),
              Refuses(400, "BadRequest", StartsWith("error decoding patch: ")));
  EXPECT_THAT(SendPatch(kMerge, "[]"),
              Refuses(400, "BadRequest", StartsWith("error decoding patch: ")));
  EXPECT_THAT(SendPatch(kStrategic, "\"x\""),
              Refuses(400, "BadRequest", testing::_));
}

TEST_F(PatchTest, RejectsAnUnknownPatchType) {
  for (const char* type : {"application/json", "text/plain"}) {
    EXPECT_THAT(SendPatch(type, "{}"), Refuses(415, "UnsupportedMediaType",
                                               "415: Unsupported Media Type"));
  }
}

using ApplyTest = ContractTest;

TEST_F(ApplyTest, ServerSideApply) {
  const Reply reply = Send(
      "PATCH", "configmaps/a?fieldManager=me",
      R"({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}})",
      {{"Content-Type", "application/apply-patch+yaml"}});
  if (DiffersByDesign()) {
    EXPECT_THAT(reply,
                Refuses(415, "UnsupportedMediaType",
                        StartsWith("server-side apply is not supported")));
  } else {
    EXPECT_THAT(reply, Answers(201, R"({"metadata": {"uid": "..."}})"_json));
  }
}

}  // namespace
}  // namespace minisched
