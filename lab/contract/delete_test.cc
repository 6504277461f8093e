// DELETE of one object: grace, finalizers, preconditions.

#include "lab/contract/contract_testing.h"

namespace minisched {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class DeleteTest : public ContractTest {
 protected:
  // Creates a bound pod, whose deletion takes a grace period.
  json CreateBound(const std::string& name) {
    return Create("pods", Pod(name, R"({"spec": {"nodeName":
                                        "contract-nowhere"}})"_json));
  }

  json CreateWithFinalizer(const std::string& name) {
    return Create("configmaps", Named(name, R"({"metadata": {"finalizers":
                                  ["x.y/z"]}})"_json));
  }
};

TEST_F(DeleteTest, ReturnsAStatus) {
  const json object = Create("configmaps", Named("a"));
  EXPECT_THAT(Delete("configmaps/a"),
              Answers(200, {{"kind", "Status"},
                            {"apiVersion", "v1"},
                            {"metadata", json::object()},
                            {"status", "Success"},
                            {"details",
                             {{"name", "a"},
                              {"kind", "configmaps"},
                              {"group", nullptr},
                              {"uid", Uid(object)}}}}));
  EXPECT_THAT(Get("configmaps/a"), Answers(404));
  EXPECT_THAT(Delete("configmaps/a"),
              Refuses(404, "NotFound", "configmaps \"a\" not found",
                      {{"name", "a"}, {"kind", "configmaps"}}));
}

// An object to create and delete.
struct TestObject {
  std::string path;  // of the collection
  json object;
};

TEST_F(DeleteTest, ReturnsTheObjectForSomeKinds) {
  const std::string name = Unique("a");
  const TestObject kinds[] = {
      {"pods", Pod(name)},
      {"services", Named(name, R"({"spec": {"ports": [{"port": 80}]}})"_json)},
      {"serviceaccounts", Named(name)},
      {"resourceclaims", Named(name, R"({"spec": {}})"_json)},
      {"csidrivers", Named(name, R"({"spec": {}})"_json)},
      {"csinodes", Named(name, R"({"spec": {"drivers": []}})"_json)},
      {"deviceclasses", Named(name, R"({"spec": {}})"_json)},
      {"resourceslices", Named(name, R"({"spec": {"driver": "x.y",
         "nodeName": "n", "pool": {"name": "p", "generation": 1,
                                   "resourceSliceCount": 1}}})"_json)},
      {"storageclasses", Named(name, {{"provisioner", "x.y/z"}})},
      {"volumeattachments",
       Named(name, R"({"spec": {"attacher": "x.y", "nodeName": "n",
         "source": {"persistentVolumeName": "v"}}})"_json)},
  };
  for (const auto& [path, object] : kinds) {
    SCOPED_TRACE(path);
    const json created = Create(path, object);
    const Reply deleted = Delete(path + "/" + name);
    EXPECT_THAT(deleted, Answers(200, {{"kind", created.at("kind")},
                                       {"apiVersion", created.at("apiVersion")},
                                       {"metadata",
                                        {{"name", name},
                                         {"uid", Uid(created)},
                                         {"resourceVersion", "..."}}}}));
    EXPECT_THAT(Get(path + "/" + name), Answers(404));
  }
}

// A real cluster protects these objects with finalizers, which a controller
// removes. The test accepts a response with or without the finalizers.
TEST_F(DeleteTest, ReturnsTheObjectForVolumesAndClaims) {
  const std::string name = Unique("a");
  const json capacity = {{"storage", "1Gi"}};
  const TestObject kinds[] = {
      {"persistentvolumeclaims",
       Named(name, {{"spec",
                     {{"accessModes", {"ReadWriteOnce"}},
                      {"storageClassName", ""},
                      {"resources", {{"requests", capacity}}}}}})},
      {"persistentvolumes",
       Named(name, {{"spec",
                     {{"accessModes", {"ReadWriteOnce"}},
                      {"capacity", capacity},
                      {"hostPath", {{"path", "/tmp/x"}}}}}})},
  };
  for (const auto& [path, object] : kinds) {
    SCOPED_TRACE(path);
    const json created = Create(path, object);
    const std::string at = path + "/" + name;
    const Reply deleted = Delete(at);
    EXPECT_THAT(deleted, Answers(200, {{"kind", created.at("kind")},
                                       {"metadata", {{"uid", Uid(created)}}}}));
    Await(at + " to be deleted", [&] { return Get(at).status == 404; });
  }
}

TEST_F(DeleteTest, ReturnsTheLastVersionOfAPod) {
  const json pod = Create("pods", Pod("a"));
  WatchReader watch = Watch("pods?resourceVersion=" + Version(pod));
  const Reply deleted = Delete("pods/a");
  EXPECT_THAT(deleted, Answers(200, R"({
    "kind": "Pod", "apiVersion": "v1",
    "metadata": {"deletionTimestamp": "...", "deletionGracePeriodSeconds": 0},
    "status": {"phase": "Pending"}})"_json));
  EXPECT_EQ(watch.Next().value().at("type"), "MODIFIED");
  const json event = watch.Next().value();
  EXPECT_EQ(event.at("type"), "DELETED");
  EXPECT_EQ(event.at("object"), deleted.body);
}

TEST_F(DeleteTest, ReturnsATableOfThePod) {
  const Headers table = {
      {"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}};
  Create("pods", Pod("a"));
  EXPECT_THAT(Send("DELETE", "pods/a", "", table),
              Answers(200, R"({"kind": "Table", "rows": [
                {"object": {"kind": "PartialObjectMetadata",
                            "metadata": {"name": "a"}}}]})"_json));
  Create("configmaps", Named("a"));
  EXPECT_THAT(Send("DELETE", "configmaps/a", "", table),
              Answers(200, R"({"kind": "Status", "status": "Success"})"_json));
}

TEST_F(DeleteTest, DeletesAnUnboundPodAtOnce) {
  Create("pods", Pod("a"));
  EXPECT_THAT(Delete("pods/a"), Answers(200, R"({"kind": "Pod"})"_json));
  EXPECT_THAT(Get("pods/a"), Answers(404));
}

TEST_F(DeleteTest, GivesABoundPodItsGracePeriod) {
  const json pod = CreateBound("a");
  const Reply deleted = Delete("pods/a");
  EXPECT_THAT(deleted, Answers(200, R"({
    "kind": "Pod", "metadata": {"deletionTimestamp": "...",
                                "deletionGracePeriodSeconds": 30,
                                "generation": 2}})"_json));
  EXPECT_NE(Version(deleted.body), Version(pod));
  EXPECT_EQ(Read("pods/a"), deleted.body);
  // A kubelet completes the deletion with a grace period of 0.
  EXPECT_THAT(Delete("pods/a", {{"gracePeriodSeconds", 0}}),
              Answers(200, R"({"kind": "Pod", "metadata":
                {"deletionGracePeriodSeconds": 0}})"_json));
  EXPECT_THAT(Get("pods/a"), Answers(404));
}

TEST_F(DeleteTest, DeletesAPodThatHasEndedAtOnce) {
  CreateBound("a");
  MergePatch("pods/a/status", R"({"status": {"phase": "Succeeded"}})"_json);
  EXPECT_THAT(Delete("pods/a"), Answers(200));
  EXPECT_THAT(Get("pods/a"), Answers(404));
}

TEST_F(DeleteTest, TheGracePeriodCanOnlyShrink) {
  CreateBound("a");
  const auto grace = [](int seconds) {
    return Answers(200,
                   {{"metadata", {{"deletionGracePeriodSeconds", seconds}}}});
  };
  EXPECT_THAT(Delete("pods/a", {{"gracePeriodSeconds", 200}}), grace(200));
  EXPECT_THAT(Delete("pods/a", {{"gracePeriodSeconds", 600}}), grace(200));
  EXPECT_THAT(Delete("pods/a", {{"gracePeriodSeconds", 100}}), grace(100));
  EXPECT_THAT(Delete("pods/a?gracePeriodSeconds=50"), grace(50));
  EXPECT_THAT(Delete("pods/a?gracePeriodSeconds=0"), Answers(200));
  EXPECT_THAT(Get("pods/a"), Answers(404));
}

TEST_F(DeleteTest, OptionsInTheBodyOverrideTheQuery) {
  CreateBound("a");
  EXPECT_THAT(
      Delete("pods/a?gracePeriodSeconds=20", {{"gracePeriodSeconds", 7}}),
      Answers(200, R"({"metadata":
                {"deletionGracePeriodSeconds": 7}})"_json));
}

TEST_F(DeleteTest, UsesTheGracePeriodOfThePod) {
  Create("pods", Pod("a", R"({"spec": {"nodeName": "contract-nowhere",
                              "terminationGracePeriodSeconds": 11}})"_json));
  EXPECT_THAT(Delete("pods/a"), Answers(200, R"({"metadata":
                {"deletionGracePeriodSeconds": 11}})"_json));
}

TEST_F(DeleteTest, ChecksTheUidPrecondition) {
  const json pod = CreateBound("a");
  EXPECT_THAT(
      Delete("pods/a", R"({"preconditions": {"uid": "x"}})"_json),
      Refuses(409, "Conflict",
              "Operation cannot be fulfilled on Pod \"a\": the UID in "
              "the precondition (x) does not match the UID in record (" +
                  Uid(pod) +
                  "). The object might have been deleted and then "
                  "recreated",
              {{"name", "a"}, {"kind", "Pod"}}));
  EXPECT_THAT(Delete("pods/a", {{"gracePeriodSeconds", 0},
                                {"preconditions", {{"uid", Uid(pod)}}}}),
              Answers(200));
}

TEST_F(DeleteTest, ChecksTheVersionPrecondition) {
  const json pod = CreateBound("a");
  EXPECT_THAT(
      Delete("pods/a", R"({"preconditions": {"resourceVersion": "1"}})"_json),
      Refuses(409, "Conflict",
              "Operation cannot be fulfilled on Pod \"a\": the ResourceVersion "
              "in the precondition (1) does not match the ResourceVersion in "
              "record (" +
                  Version(pod) + "). The object might have been modified"));
  EXPECT_THAT(Delete("pods/a",
                     {{"gracePeriodSeconds", 0},
                      {"preconditions", {{"resourceVersion", Version(pod)}}}}),
              Answers(200));
}

TEST_F(DeleteTest, PreconditionErrorsNameTheGroup) {
  Create("leases", Named("a"));
  EXPECT_THAT(
      Delete("leases/a", R"({"preconditions": {"uid": "x"}})"_json),
      Refuses(409, "Conflict",
              StartsWith("Operation cannot be fulfilled on "
                         "Lease.coordination.k8s.io \"a\": the UID in the "),
              {{"name", "a"},
               {"kind", "Lease"},
               {"group", "coordination.k8s.io"}}));
}

TEST_F(DeleteTest, FinalizersDelayTheDeletionOfAnObject) {
  const json object = CreateWithFinalizer("a");
  const Reply deleted = Delete("configmaps/a");
  EXPECT_THAT(deleted, Answers(200, R"({
    "kind": "ConfigMap",
    "metadata": {"finalizers": ["x.y/z"], "deletionTimestamp": "...",
                 "deletionGracePeriodSeconds": 0}})"_json));
  EXPECT_NE(Version(deleted.body), Version(object));
  EXPECT_EQ(Delete("configmaps/a").body, deleted.body);
  Release("configmaps/a");
  EXPECT_THAT(Get("configmaps/a"), Answers(404));
}

TEST_F(DeleteTest, FinalizersDelayTheDeletionOfAPod) {
  Create("pods", Pod("a", R"({"metadata": {"finalizers": ["x.y/z"]}})"_json));
  const Reply deleted = Delete("pods/a");
  EXPECT_THAT(deleted, Answers(200, R"({
    "kind": "Pod", "metadata": {"deletionTimestamp": "...",
                                "deletionGracePeriodSeconds": 0}})"_json));
  EXPECT_EQ(Read("pods/a"), deleted.body);
  EXPECT_EQ(Delete("pods/a").body, deleted.body);
  // The patch that removes the last finalizer also returns the object.
  EXPECT_THAT(
      MergePatch("pods/a", R"({"metadata": {"finalizers": null}})"_json),
      Answers(200, R"({"kind": "Pod"})"_json));
  EXPECT_THAT(Get("pods/a"), Answers(404));
}

TEST_F(DeleteTest, ADeletionCannotBeUndone) {
  CreateWithFinalizer("a");
  const json deleted = Delete("configmaps/a").body;
  EXPECT_THAT(MergePatch("configmaps/a",
                         R"({"metadata": {"deletionTimestamp": null}})"_json),
              Answers(200, deleted));
  Release("configmaps/a");
}

TEST_F(DeleteTest, ADryRunDeletesNothing) {
  const json pod = CreateBound("a");
  EXPECT_THAT(Delete("pods/a", R"({"dryRun": ["All"]})"_json),
              Answers(200, R"({"metadata":
                {"deletionTimestamp": "..."}})"_json));
  EXPECT_EQ(Read("pods/a"), pod);
  const json object = Create("configmaps", Named("b"));
  EXPECT_THAT(Delete("configmaps/b?dryRun=All"),
              Answers(200, R"({"kind": "Status"})"_json));
  EXPECT_EQ(Read("configmaps/b"), object);
}

// A dry run returns the same object as a deletion that takes effect at once.
TEST_F(DeleteTest, ADryRunOfAnImmediateDeletionReturnsTheObject) {
  const json pod = Create("pods", Pod("a"));
  const Reply deleted = Delete("pods/a?dryRun=All");
  EXPECT_THAT(deleted, Answers(200, R"({"kind": "Pod", "metadata":
                {"deletionGracePeriodSeconds": 0}})"_json));
  EXPECT_EQ(Version(deleted.body), Version(pod));
  EXPECT_EQ(Read("pods/a"), pod);
}

// orphanDependents: false is the older form of propagationPolicy: Background.
// With it, DELETE returns 202 if a finalizer delays the deletion.
TEST_F(DeleteTest, OrphanDependentsFalseMeansBackground) {
  CreateWithFinalizer("a");
  const json background = {{"orphanDependents", false}};
  EXPECT_THAT(Delete("configmaps/a", background),
              Answers(202, R"({"kind": "ConfigMap"})"_json));
  Release("configmaps/a");
  Create("configmaps", Named("b"));
  EXPECT_THAT(Delete("configmaps/b", background),
              Answers(200, R"({"kind": "Status"})"_json));
}

TEST_F(DeleteTest, RejectsInvalidOptions) {
  Create("configmaps", Named("a"));
  EXPECT_THAT(
      Delete("configmaps/a", {{"propagationPolicy", "Nope"}}),
      Invalid("DeleteOptions.meta.k8s.io", "",
              {"propagationPolicy: Unsupported value: \"Nope\": supported "
               "values: \"Foreground\", \"Background\", \"Orphan\", "
               "\"nil\""}));
  EXPECT_THAT(Delete("configmaps/a", R"({"dryRun": ["Nope"]})"_json),
              Invalid("DeleteOptions.meta.k8s.io", "",
                      {"dryRun: Unsupported value: [\"Nope\"]: supported "
                       "values: \"All\""}));
  EXPECT_THAT(Delete("configmaps/a?gracePeriodSeconds=abc"),
              Refuses(400, "BadRequest", HasSubstr("\"abc\"")));
}

TEST_F(DeleteTest, RejectsInvalidBodies) {
  Create("configmaps", Named("a"));
  EXPECT_THAT(Send("DELETE", "configmaps/a", "{bad"),
              Refuses(400, "BadRequest", testing::_));
  EXPECT_THAT(Delete("configmaps/a", {{"kind", "Pod"}, {"apiVersion", "v1"}}),
              Refuses(400, "BadRequest", testing::_));
  EXPECT_THAT(
      Delete("configmaps/a", {{"kind", "DeleteOptions"}, {"apiVersion", "v1"}}),
      Answers(200));
}

}  // namespace
}  // namespace minisched
