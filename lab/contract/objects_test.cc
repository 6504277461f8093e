// Creating and reading objects, and the metadata that the server adds.

#include "lab/contract/contract_testing.h"

namespace minisched {
namespace {

using testing::MatchesRegex;

using ObjectsTest = ContractTest;

TEST_F(ObjectsTest, CreateReturnsTheWholeObject) {
  const Reply created = Post("configmaps", Named("a", R"({
    "metadata": {"labels": {"x": "1"}, "annotations": {"y": "2"}},
    "data": {"k": "v"}})"_json));
  EXPECT_THAT(created, Answers(201, R"({
    "kind": "ConfigMap", "apiVersion": "v1",
    "metadata": {"name": "a", "uid": "...", "resourceVersion": "...",
                 "creationTimestamp": "...", "generation": null,
                 "selfLink": null, "labels": {"x": "1"},
                 "annotations": {"y": "2"}},
    "data": {"k": "v"}})"_json));
  EXPECT_EQ(created.body.at("metadata").at("namespace"), namespace_name());
  EXPECT_EQ(created.headers.at("content-type"), "application/json");
  EXPECT_EQ(Read("configmaps/a"), created.body);
}

TEST_F(ObjectsTest, AddsUidTimestampAndVersion) {
  const json metadata = Create("configmaps", Named("a")).at("metadata");
  EXPECT_THAT(
      metadata.at("uid").get<std::string>(),
      MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-"
                   "[0-9a-f]{12}"));
  EXPECT_THAT(metadata.at("creationTimestamp").get<std::string>(),
              MatchesRegex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z"));
  EXPECT_THAT(metadata.at("resourceVersion").get<std::string>(),
              MatchesRegex("[1-9][0-9]*"));
}

// All kinds share one counter, so clients can compare versions across kinds.
TEST_F(ObjectsTest, VersionsGrowAcrossKinds) {
  const long first = std::stol(Version(Create("configmaps", Named("a"))));
  const long second = std::stol(Version(Create("pods", Pod("a"))));
  const long third = std::stol(Version(Create("leases", Named("a"))));
  EXPECT_LT(first, second);
  EXPECT_LT(second, third);
}

TEST_F(ObjectsTest, AddsKindAndApiVersion) {
  EXPECT_THAT(Post("leases", Named("a")),
              Answers(201, {{"kind", "Lease"},
                            {"apiVersion", "coordination.k8s.io/v1"}}));
}

TEST_F(ObjectsTest, MissingObjectsAreNotFound) {
  EXPECT_THAT(
      Get("pods/none"),
      Refuses(404, "NotFound", "pods \"none\" not found",
              {{"name", "none"}, {"kind", "pods"}, {"group", nullptr}}));
  EXPECT_THAT(
      Get("deployments/none"),
      Refuses(404, "NotFound", "deployments.apps \"none\" not found",
              {{"name", "none"}, {"group", "apps"}, {"kind", "deployments"}}));
}

TEST_F(ObjectsTest, RejectsASecondObjectOfTheSameName) {
  const json first = Create("configmaps", Named("a"));
  EXPECT_THAT(Post("configmaps", Named("a")),
              Refuses(409, "AlreadyExists", "configmaps \"a\" already exists",
                      {{"name", "a"}, {"kind", "configmaps"}}));
  Create("leases", Named("a"));
  EXPECT_THAT(Post("leases", Named("a")),
              Refuses(409, "AlreadyExists",
                      "leases.coordination.k8s.io \"a\" already exists",
                      {{"name", "a"},
                       {"group", "coordination.k8s.io"},
                       {"kind", "leases"}}));
  EXPECT_EQ(Read("configmaps/a"), first);
}

TEST_F(ObjectsTest, RejectsTheNameOfAnObjectThatIsBeingDeleted) {
  Create("configmaps",
         Named("a", R"({"metadata": {"finalizers": ["x.y/z"]}})"_json));
  EXPECT_THAT(Delete("configmaps/a"), Answers(200));
  EXPECT_THAT(
      Post("configmaps", Named("a")),
      Refuses(409, "AlreadyExists",
              "object is being deleted: configmaps \"a\" already exists"));
  Release("configmaps/a");
}

TEST_F(ObjectsTest, GeneratesUniqueNames) {
  const json object =
      R"({"metadata": {"generateName": "web-"}, "data": {"k": "v"}})"_json;
  const json first = Create("configmaps", object);
  EXPECT_THAT(first, JsonHas(object));
  EXPECT_THAT(first.at("metadata").at("name").get<std::string>(),
              MatchesRegex("web-[bcdfghjklmnpqrstvwxz2456789]{5}"));
  EXPECT_NE(Create("configmaps", object).at("metadata").at("name"),
            first.at("metadata").at("name"));
}

TEST_F(ObjectsTest, TruncatesALongGenerateName) {
  const json created = Create(
      "configmaps", {{"metadata", {{"generateName", std::string(100, 'x')}}}});
  EXPECT_THAT(created.at("metadata").at("name").get<std::string>(),
              MatchesRegex("x{58}[a-z0-9]{5}"));
}

TEST_F(ObjectsTest, NameOverridesGenerateName) {
  EXPECT_THAT(Post("configmaps", R"({"metadata": {"name": "a",
                                     "generateName": "b-"}})"_json),
              Answers(201, R"({"metadata": {"name": "a",
                               "generateName": "b-"}})"_json));
}

TEST_F(ObjectsTest, IgnoresFieldsThatTheServerSets) {
  const json created = Create("configmaps", Named("a", R"({
    "metadata": {"uid": "mine", "creationTimestamp": "2001-01-01T00:00:00Z",
                 "deletionTimestamp": "2001-01-01T00:00:00Z",
                 "deletionGracePeriodSeconds": 5, "selfLink": "/x"}})"_json));
  EXPECT_THAT(created, JsonHas(R"({"metadata": {
    "deletionTimestamp": null, "deletionGracePeriodSeconds": null,
    "selfLink": null}})"_json));
  EXPECT_NE(Uid(created), "mine");
  EXPECT_NE(created.at("metadata").at("creationTimestamp"),
            "2001-01-01T00:00:00Z");
}

TEST_F(ObjectsTest, RejectsAVersionOnCreate) {
  EXPECT_THAT(
      Post("configmaps",
           Named("a", R"({"metadata": {"resourceVersion": "5"}})"_json)),
      Refuses(500, "",
              "resourceVersion should not be set on objects to be created"));
}

TEST_F(ObjectsTest, GetAcceptsAVersion) {
  const json created = Create("configmaps", Named("a"));
  EXPECT_THAT(Get("configmaps/a?resourceVersion=0"), Answers(200));
  EXPECT_THAT(Get("configmaps/a?resourceVersion=" + Version(created)),
              Answers(200));
}

TEST_F(ObjectsTest, KeepsUnicodeText) {
  const json object =
      Named("a", R"({"data": {"k": "é 中 <&> \u2028 \" \\ \n"}})"_json);
  EXPECT_THAT(Create("configmaps", object), JsonHas(object));
  EXPECT_THAT(Read("configmaps/a"), JsonHas(object));
}

TEST_F(ObjectsTest, DropsTheNamespaceOfClusterScopedObjects) {
  const std::string name = Unique("a");
  DeleteLater("priorityclasses/" + name);
  const json object = Create("priorityclasses", Named(name, R"({"value": 1,
                                  "metadata": {"namespace": "default"}})"_json));
  EXPECT_FALSE(object.at("metadata").contains("namespace"));
  EXPECT_THAT(Put("priorityclasses/" + name,
                  Named(name, R"({"value": 1, "description": "b",
                                  "metadata": {"namespace": "x"}})"_json)),
              Answers(200, R"({"description": "b",
                               "metadata": {"namespace": null}})"_json));
}

}  // namespace
}  // namespace minisched
