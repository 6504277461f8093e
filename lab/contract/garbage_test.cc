// Deletion of collections and of owned objects.

#include "lab/contract/contract_testing.h"

namespace minisched {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class GarbageTest : public ContractTest {
 protected:
  // Creates the config map "owner", and "owned" with a reference to its owner.
  void CreateOwnerAndOwned() {
    const json owner = Create("configmaps", Named("owner"));
    json owned = Named("owned");
    owned["metadata"]["ownerReferences"] = {{{"apiVersion", "v1"},
                                             {"kind", "ConfigMap"},
                                             {"name", "owner"},
                                             {"uid", Uid(owner)},
                                             {"blockOwnerDeletion", true}}};
    Create("configmaps", owned);
  }

  Reply DeleteOwner(const char* policy) {
    return Delete("configmaps/owner", {{"propagationPolicy", policy}});
  }

  void AwaitGone(const std::string& path) {
    Await(path + " to be deleted", [&] { return Get(path).status == 404; });
  }

  void CreatePods() {
    for (const std::string name : {"a", "b", "c"}) {
      Create("pods", Pod(name, {{"metadata", {{"labels", {{"n", name}}}}}}));
    }
  }
};

TEST_F(GarbageTest, BackgroundDeletesTheOwnerFirst) {
  CreateOwnerAndOwned();
  EXPECT_THAT(DeleteOwner("Background"),
              Answers(200, R"({"kind": "Status", "status": "Success"})"_json));
  EXPECT_THAT(Get("configmaps/owner"), Answers(404));
  AwaitGone("configmaps/owned");
}

TEST_F(GarbageTest, ForegroundDeletesTheOwnerLast) {
  CreateOwnerAndOwned();
  EXPECT_THAT(DeleteOwner("Foreground"), Answers(200, R"({
    "kind": "ConfigMap",
    "metadata": {"deletionTimestamp": "...",
                 "finalizers": ["foregroundDeletion"]}})"_json));
  AwaitGone("configmaps/owner");
  EXPECT_THAT(Get("configmaps/owned"), Answers(404));
}

TEST_F(GarbageTest, OrphanKeepsTheOwnedObject) {
  CreateOwnerAndOwned();
  EXPECT_THAT(DeleteOwner("Orphan"), Answers(200, R"({
    "kind": "ConfigMap", "metadata": {"deletionTimestamp": "...",
                                      "finalizers": ["orphan"]}})"_json));
  AwaitGone("configmaps/owner");
  EXPECT_THAT(Get("configmaps/owned"),
              Answers(200, R"({"metadata": {"ownerReferences": null}})"_json));
}

TEST_F(GarbageTest, AcceptsAPolicyInTheQuery) {
  Create("configmaps", Named("a"));
  EXPECT_THAT(Delete("configmaps/a?propagationPolicy=Foreground"),
              Answers(200, R"({"kind": "ConfigMap"})"_json));
  AwaitGone("configmaps/a");
}

TEST_F(GarbageTest, DeletesAnObjectWhoseOwnerDoesNotExist) {
  Create("configmaps", Named("a", R"({"metadata": {"ownerReferences": [
    {"apiVersion": "v1", "kind": "ConfigMap", "name": "none",
     "uid": "11111111-2222-4333-8444-555555555555"}]}})"_json));
  AwaitGone("configmaps/a");
}

TEST_F(GarbageTest, DeletesACollection) {
  CreatePods();
  const Reply reply = Delete("pods", {{"gracePeriodSeconds", 0}});
  EXPECT_THAT(reply, Answers(200, R"({"kind": "PodList", "apiVersion": "v1",
                               "metadata": {"resourceVersion": "..."}})"_json));
  EXPECT_THAT(Names(reply.body), ElementsAre("a", "b", "c"));
  EXPECT_THAT(Names(Read("pods")), IsEmpty());
}

TEST_F(GarbageTest, DeletesACollectionBySelectors) {
  CreatePods();
  EXPECT_THAT(Names(Delete("pods?labelSelector=n in (a,c)").body),
              ElementsAre("a", "c"));
  EXPECT_THAT(Names(Read("pods")), ElementsAre("b"));
  EXPECT_THAT(Names(Delete("pods?fieldSelector=metadata.name!=b").body),
              IsEmpty());
  EXPECT_THAT(Names(Delete("pods?fieldSelector=metadata.name=b").body),
              ElementsAre("b"));
  EXPECT_THAT(Names(Read("pods")), IsEmpty());
}

TEST_F(GarbageTest, ADryRunDeletesNoCollection) {
  CreatePods();
  EXPECT_THAT(Names(Delete("pods", R"({"dryRun": ["All"]})"_json).body),
              UnorderedElementsAre("a", "b", "c"));
  EXPECT_THAT(Names(Read("pods")), ElementsAre("a", "b", "c"));
}

TEST_F(GarbageTest, RejectsDeletingACollectionInAllNamespaces) {
  EXPECT_THAT(Delete("/api/v1/pods"),
              Refuses(405, "MethodNotAllowed",
                      "the server does not allow this method on the requested "
                      "resource"));
}

}  // namespace
}  // namespace minisched
