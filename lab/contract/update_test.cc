// Updates with PUT: allowed changes and conflicts.

#include "lab/contract/contract_testing.h"

namespace minisched {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

using UpdateTest = ContractTest;

constexpr char kModified[] =
    "the object has been modified; please apply your changes to the latest "
    "version and try again";

TEST_F(UpdateTest, ReplacesTheObject) {
  json object = Create("configmaps", Named("a", R"({
    "metadata": {"labels": {"x": "1"}}, "data": {"k": "v"}})"_json));
  const std::string before = Version(object);
  object["metadata"].erase("labels");
  object["data"] = {{"l", "w"}};
  const Reply updated = Put("configmaps/a", object);
  EXPECT_THAT(updated, Answers(200, R"({
    "kind": "ConfigMap", "apiVersion": "v1",
    "metadata": {"labels": null}, "data": {"k": null, "l": "w"}})"_json));
  EXPECT_EQ(Uid(updated.body), Uid(object));
  EXPECT_GT(std::stol(Version(updated.body)), std::stol(before));
  EXPECT_EQ(Read("configmaps/a"), updated.body);
}

TEST_F(UpdateTest, RejectsAStaleVersion) {
  json object = Create("configmaps", Named("a"));
  object["data"] = {{"k", "1"}};
  EXPECT_THAT(Put("configmaps/a", object), Answers(200));
  EXPECT_THAT(
      Put("configmaps/a", object),
      Refuses(
          409, "Conflict",
          std::string("Operation cannot be fulfilled on configmaps \"a\": ") +
              kModified,
          {{"name", "a"}, {"kind", "configmaps"}}));
}

TEST_F(UpdateTest, ConflictsNameTheGroup) {
  json object = Create("leases", Named("a"));
  object["spec"]["holderIdentity"] = "me";
  EXPECT_THAT(Put("leases/a", object), Answers(200));
  EXPECT_THAT(Put("leases/a", object),
              Refuses(409, "Conflict",
                      std::string("Operation cannot be fulfilled on "
                                  "leases.coordination.k8s.io \"a\": ") +
                          kModified,
                      {{"name", "a"},
                       {"group", "coordination.k8s.io"},
                       {"kind", "leases"}}));
}

TEST_F(UpdateTest, AcceptsAnUpdateWithoutAVersion) {
  Create("configmaps", Named("a"));
  EXPECT_THAT(Put("configmaps/a", Named("a", R"({"data": {"k": "v"}})"_json)),
              Answers(200, R"({"data": {"k": "v"}})"_json));
}

TEST_F(UpdateTest, AnUpdateWithoutChangesKeepsTheVersion) {
  const json object = Create("configmaps", Named("a"));
  EXPECT_EQ(Version(Put("configmaps/a", object).body), Version(object));
  EXPECT_EQ(Version(Put("configmaps/a", Named("a")).body), Version(object));
}

TEST_F(UpdateTest, RejectsAnotherUid) {
  const json object = Create("configmaps", Named("a"));
  EXPECT_THAT(
      Put("configmaps/a", Named("a", R"({"metadata": {"uid": "x"}})"_json)),
      Refuses(409, "Conflict",
              testing::AllOf(
                  StartsWith("Operation cannot be fulfilled on configmaps "
                             "\"a\": "),
                  HasSubstr("Precondition failed: UID in precondition: x, UID "
                            "in object meta: " +
                            Uid(object))),
              {{"name", "a"}, {"kind", "configmaps"}}));
}

TEST_F(UpdateTest, RejectsAnUpdateOfAMissingObject) {
  EXPECT_THAT(Put("configmaps/none", Named("none")),
              Refuses(404, "NotFound", "configmaps \"none\" not found"));
}

// PUT creates a missing object of some kinds, such as leases, but not config
// maps.
TEST_F(UpdateTest, PutCreatesALease) {
  EXPECT_THAT(Put("leases/new", Named("new")),
              Answers(201, R"({"metadata": {"uid": "..."}})"_json));
  // An update of an existing lease needs the lease's version.
  EXPECT_THAT(Put("leases/new", Named("new")),
              Invalid("leases.coordination.k8s.io", "new",
                      {"metadata.resourceVersion: Invalid value: 0: must be "
                       "specified for an update"}));
}

TEST_F(UpdateTest, RejectsAnotherName) {
  Create("configmaps", Named("a"));
  EXPECT_THAT(
      Put("configmaps/a", Named("z")),
      Refuses(400, "BadRequest",
              "the name of the object (z) does not match the name on the URL "
              "(a)"));
  EXPECT_THAT(
      Put("configmaps/a", R"({"metadata": {}})"_json),
      Refuses(400, "BadRequest",
              "the name of the object (a based on URL) was undeterminable: "
              "name must be provided"));
}

TEST_F(UpdateTest, RejectsAnotherNamespace) {
  Create("configmaps", Named("a"));
  const json elsewhere =
      Named("a", R"({"metadata": {"namespace": "other"}})"_json);
  const std::string message =
      "the namespace of the provided object does not match the namespace sent "
      "on the request";
  EXPECT_THAT(Put("configmaps/a", elsewhere),
              Refuses(400, "BadRequest", message));
  EXPECT_THAT(Post("configmaps", elsewhere),
              Refuses(400, "BadRequest", message));
}

TEST_F(UpdateTest, IgnoresFieldsThatTheServerSets) {
  const json object = Create("configmaps", Named("a"));
  EXPECT_THAT(Put("configmaps/a",
                  Named("a", R"({"metadata": {"selfLink": "/x", "generation": 9,
                         "creationTimestamp": "2001-01-01T00:00:00Z"},
                         "data": {"k": "v"}})"_json)),
              Answers(200, {{"metadata",
                             {{"creationTimestamp",
                               object.at("metadata").at("creationTimestamp")},
                              {"generation", nullptr},
                              {"selfLink", nullptr}}}}));
  EXPECT_THAT(
      Put("configmaps/a", Named("a", R"({"metadata": {"deletionTimestamp":
                                         "2001-01-01T00:00:00Z"}})"_json)),
      Invalid("ConfigMap", "a",
              {"metadata.deletionTimestamp: Invalid value: "
               "\"2001-01-01T00:00:00Z\": field is immutable"}));
}

TEST_F(UpdateTest, AcceptsUpdatesDuringDeletion) {
  Create("configmaps",
         Named("a", R"({"metadata": {"finalizers": ["x.y/z"]}})"_json));
  json object = Delete("configmaps/a").body;
  object["data"] = {{"k", "v"}};
  EXPECT_THAT(Put("configmaps/a", object),
              Answers(200, R"({"metadata": {"deletionTimestamp": "..."},
                               "data": {"k": "v"}})"_json));
  Release("configmaps/a");
}

}  // namespace
}  // namespace minisched
