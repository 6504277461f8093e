// DELETE of one object: grace, finalizers, preconditions.

#include "minisched/contract/contract_testing.h"

namespace minisched {
namespace {

using testing::HasSubstr;

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

// One without a node is gone at once.
TEST_F(DeleteTest, PodWithoutANode) {
  Create("pods", Pod("a"));
  EXPECT_THAT(Delete("pods/a"), Answers(200));
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
  EXPECT_THAT(Delete("pods/a", {{"gracePeriodSeconds", 0}}), Answers(200));
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
  EXPECT_THAT(Delete("pods/a", R"({"preconditions": {"uid": "x"}})"_json),
              Refuses(409, "Conflict", HasSubstr(Uid(pod)), {{"name", "a"}}));
  EXPECT_THAT(Delete("pods/a", {{"gracePeriodSeconds", 0},
                                {"preconditions", {{"uid", Uid(pod)}}}}),
              Answers(200));
}

TEST_F(DeleteTest, PreconditionVersion) {
  const json pod = CreateBound("a");
  EXPECT_THAT(
      Delete("pods/a", R"({"preconditions": {"resourceVersion": "1"}})"_json),
      Refuses(409, "Conflict", HasSubstr(Version(pod))));
  EXPECT_THAT(Delete("pods/a",
                     {{"gracePeriodSeconds", 0},
                      {"preconditions", {{"resourceVersion", Version(pod)}}}}),
              Answers(200));
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
  EXPECT_THAT(Delete("configmaps/b?dryRun=All"), Answers(200));
  EXPECT_EQ(Read("configmaps/b"), object);
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
