// DELETE of one object: grace, finalizers, preconditions.

#include "lab/contract/contract_testing.h"

namespace minisched {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class DeleteTest : public ContractTest {
 protected:
  // A pod on a node, so that it is given time to end.
  json CreateBound(const std::string& name) {
    return Create("pods", Pod(name, R"({"spec": {"nodeName":
                                        "contract-nowhere"}})"_json));
  }

  json CreateHeld(const std::string& name) {
    return Create("configmaps", Named(name, R"({"metadata": {"finalizers":
                                  ["x.y/z"]}})"_json));
  }
};

TEST_F(DeleteTest, AnswersWithAStatus) {
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

// An example of a kind whose DELETE is answered with the deleted object.
struct ReturnsDeletedObject {
  std::string path;
  json object;
};

TEST_F(DeleteTest, AnswersWithTheObjectOfTheseKinds) {
  const std::string name = Unique("a");
  const ReturnsDeletedObject kinds[] = {
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

// A real cluster protects these with finalizers, which a controller removes. So
// the answer is the same whether the object is gone or still there.
TEST_F(DeleteTest, AnswersWithTheObjectOfVolumesAndClaims) {
  const std::string name = Unique("a");
  const json capacity = {{"storage", "1Gi"}};
  const ReturnsDeletedObject kinds[] = {
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
    Await("the end of " + at, [&] { return Get(at).status == 404; });
  }
}

TEST_F(DeleteTest, AnswersWithTheLastVersion) {
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

TEST_F(DeleteTest, AnswersWithATableOfTheObject) {
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

// One without a node is gone at once.
TEST_F(DeleteTest, PodWithoutANode) {
  Create("pods", Pod("a"));
  EXPECT_THAT(Delete("pods/a"), Answers(200, R"({"kind": "Pod"})"_json));
  EXPECT_THAT(Get("pods/a"), Answers(404));
}

TEST_F(DeleteTest, PodOnANode) {
  const json pod = CreateBound("a");
  const Reply deleted = Delete("pods/a");
  EXPECT_THAT(deleted, Answers(200, R"({
    "kind": "Pod", "metadata": {"deletionTimestamp": "...",
                                "deletionGracePeriodSeconds": 30,
                                "generation": 2}})"_json));
  EXPECT_NE(Version(deleted.body), Version(pod));
  EXPECT_EQ(Read("pods/a"), deleted.body);
  // Its kubelet says when it is over.
  EXPECT_THAT(Delete("pods/a", {{"gracePeriodSeconds", 0}}),
              Answers(200, R"({"kind": "Pod", "metadata":
                {"deletionGracePeriodSeconds": 0}})"_json));
  EXPECT_THAT(Get("pods/a"), Answers(404));
}

// A pod that has ended has nothing to wait for.
TEST_F(DeleteTest, PodThatHasEnded) {
  CreateBound("a");
  MergePatch("pods/a/status", R"({"status": {"phase": "Succeeded"}})"_json);
  EXPECT_THAT(Delete("pods/a"), Answers(200));
  EXPECT_THAT(Get("pods/a"), Answers(404));
}

TEST_F(DeleteTest, GraceCanOnlyShrink) {
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

TEST_F(DeleteTest, BodyWinsOverQuery) {
  CreateBound("a");
  EXPECT_THAT(
      Delete("pods/a?gracePeriodSeconds=20", {{"gracePeriodSeconds", 7}}),
      Answers(200, R"({"metadata":
                {"deletionGracePeriodSeconds": 7}})"_json));
}

TEST_F(DeleteTest, GraceOfThePod) {
  Create("pods", Pod("a", R"({"spec": {"nodeName": "contract-nowhere",
                              "terminationGracePeriodSeconds": 11}})"_json));
  EXPECT_THAT(Delete("pods/a"), Answers(200, R"({"metadata":
                {"deletionGracePeriodSeconds": 11}})"_json));
}

TEST_F(DeleteTest, PreconditionUid) {
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

TEST_F(DeleteTest, PreconditionVersion) {
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

TEST_F(DeleteTest, PreconditionOfAGroupsKind) {
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

TEST_F(DeleteTest, FinalizersHoldIt) {
  const json object = CreateHeld("a");
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

TEST_F(DeleteTest, FinalizersHoldAPod) {
  Create("pods", Pod("a", R"({"metadata": {"finalizers": ["x.y/z"]}})"_json));
  const Reply deleted = Delete("pods/a");
  EXPECT_THAT(deleted, Answers(200, R"({
    "kind": "Pod", "metadata": {"deletionTimestamp": "...",
                                "deletionGracePeriodSeconds": 0}})"_json));
  EXPECT_EQ(Read("pods/a"), deleted.body);
  EXPECT_EQ(Delete("pods/a").body, deleted.body);
  // The update that takes the last one away is answered with the object too.
  EXPECT_THAT(
      MergePatch("pods/a", R"({"metadata": {"finalizers": null}})"_json),
      Answers(200, R"({"kind": "Pod"})"_json));
  EXPECT_THAT(Get("pods/a"), Answers(404));
}

TEST_F(DeleteTest, CannotBeUndone) {
  CreateHeld("a");
  const json deleted = Delete("configmaps/a").body;
  EXPECT_THAT(MergePatch("configmaps/a",
                         R"({"metadata": {"deletionTimestamp": null}})"_json),
              Answers(200, deleted));
  Release("configmaps/a");
}

TEST_F(DeleteTest, DryRun) {
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

// What would go at once is answered as if it had gone.
TEST_F(DeleteTest, DryRunOfTheLastStep) {
  const json pod = Create("pods", Pod("a"));
  const Reply deleted = Delete("pods/a?dryRun=All");
  EXPECT_THAT(deleted, Answers(200, R"({"kind": "Pod", "metadata":
                {"deletionGracePeriodSeconds": 0}})"_json));
  EXPECT_EQ(Version(deleted.body), Version(pod));
  EXPECT_EQ(Read("pods/a"), pod);
}

// The older name for propagation in the background: 202 while it is held.
TEST_F(DeleteTest, OrphanDependents) {
  CreateHeld("a");
  const json background = {{"orphanDependents", false}};
  EXPECT_THAT(Delete("configmaps/a", background),
              Answers(202, R"({"kind": "ConfigMap"})"_json));
  Release("configmaps/a");
  Create("configmaps", Named("b"));
  EXPECT_THAT(Delete("configmaps/b", background),
              Answers(200, R"({"kind": "Status"})"_json));
}

TEST_F(DeleteTest, OptionsThatAreNone) {
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

TEST_F(DeleteTest, BodyThatIsNone) {
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
