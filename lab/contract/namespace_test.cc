// Namespaces, and the deletion of their content.

#include "lab/contract/contract_testing.h"
#include "lab/contract/messages_testing.h"

namespace minisched {
namespace {

class NamespaceTest : public ContractTest {
 protected:
  std::string CreateNamespace() {
    std::string name = Unique("ns");
    Create("namespaces", Named(name));
    DeleteLater("namespaces/" + name);
    return name;
  }

  void AwaitGone(const std::string& name) {
    Await("the namespace to be deleted",
          [&] { return Get("namespaces/" + name).status == 404; });
  }
};

TEST_F(NamespaceTest, ANewNamespaceHasALabelAFinalizerAndAPhase) {
  const std::string name = Unique("ns");
  DeleteLater("namespaces/" + name);
  EXPECT_THAT(
      Post("namespaces", Named(name)),
      Answers(201, {{"kind", "Namespace"},
                    {"metadata",
                     {{"labels", {{"kubernetes.io/metadata.name", name}}},
                      {"generation", nullptr}}},
                    {"spec", {{"finalizers", {"kubernetes"}}}},
                    {"status", {{"phase", "Active"}}}}));
}

TEST_F(NamespaceTest, NameMustBeADnsLabel) {
  EXPECT_THAT(
      Post("namespaces", Named("Bad")),
      Invalid("Namespace", "Bad",
              {"metadata.name: Invalid value: \"Bad\": " + kNoDnsLabel}));
  EXPECT_THAT(Post("namespaces", Named("a.b")),
              Invalid("Namespace", "a.b",
                      {"metadata.name: Invalid value: \"a.b\": must not "
                       "contain dots"}));
}

TEST_F(NamespaceTest, TheLabelWithTheNameCannotChange) {
  const std::string name = CreateNamespace();
  EXPECT_THAT(
      MergePatch("namespaces/" + name,
                 R"({"metadata": {"labels": {"a": "b",
                     "kubernetes.io/metadata.name": "other"}}})"_json),
      Answers(200,
              {{"metadata",
                {{"labels",
                  {{"a", "b"}, {"kubernetes.io/metadata.name", name}}}}}}));
}

TEST_F(NamespaceTest, RejectsObjectsInAMissingNamespace) {
  const std::string path = "/api/v1/namespaces/contract-nowhere/";
  const auto refused =
      Refuses(404, "NotFound", "namespaces \"contract-nowhere\" not found",
              {{"name", "contract-nowhere"}, {"kind", "namespaces"}});
  EXPECT_THAT(Post(path + "pods", Pod("p")), refused);
  EXPECT_THAT(Post(path + "configmaps", Named("a")), refused);
  EXPECT_THAT(Get(path + "pods/p"),
              Refuses(404, "NotFound", "pods \"p\" not found"));
}

TEST_F(NamespaceTest, DeletionDeletesTheContent) {
  const std::string name = CreateNamespace();
  const std::string path = "/api/v1/namespaces/" + name + "/";
  Create(path + "pods", Pod("p"));
  Create(path + "configmaps", Named("a"));
  EXPECT_THAT(Delete("namespaces/" + name), Answers(200, R"({
    "kind": "Namespace",
    "metadata": {"deletionTimestamp": "...",
                 "deletionGracePeriodSeconds": null},
    "spec": {"finalizers": ["kubernetes"]},
    "status": {"phase": "Terminating"}})"_json));
  AwaitGone(name);
  EXPECT_THAT(Get(path + "pods/p"), Answers(404));
  EXPECT_THAT(Get(path + "configmaps/a"), Answers(404));
}

TEST_F(NamespaceTest, RejectsNewObjectsDuringDeletion) {
  const std::string name = CreateNamespace();
  const std::string path = "/api/v1/namespaces/" + name + "/";
  Create(path + "configmaps",
         Named("hold", R"({"metadata": {"finalizers": ["x.y/z"]}})"_json));
  Delete("namespaces/" + name);
  const auto refused = [&](const std::string& object) {
    return Refuses(403, "Forbidden",
                   object +
                       " is forbidden: unable to create new content in "
                       "namespace " +
                       name + " because it is being terminated");
  };
  EXPECT_THAT(Post(path + "pods", Pod("p")), refused("pods \"p\""));
  EXPECT_THAT(
      Post("/apis/coordination.k8s.io/v1/namespaces/" + name + "/leases",
           Named("l")),
      refused("leases.coordination.k8s.io \"l\""));
  EXPECT_THAT(Get("namespaces/" + name),
              Answers(200, R"({"status": {"phase": "Terminating"}})"_json));
  // The object with the finalizer is marked for deletion too.
  Await("the content to be deleted", [&] {
    return Read(path + "configmaps/hold")
        .at("metadata")
        .contains("deletionTimestamp");
  });
  Release(path + "configmaps/hold");
  AwaitGone(name);
}

TEST_F(NamespaceTest, RejectsDeletingSystemNamespaces) {
  for (const std::string name : {"default", "kube-system"}) {
    EXPECT_THAT(
        Delete("namespaces/" + name),
        Refuses(403, "Forbidden",
                "namespaces \"" + name +
                    "\" is forbidden: this namespace may not be deleted",
                {{"name", name}, {"kind", "namespaces"}}));
  }
}

TEST_F(NamespaceTest, SystemNamespacesExist) {
  for (const std::string name :
       {"default", "kube-node-lease", "kube-public", "kube-system"}) {
    EXPECT_THAT(Get("namespaces/" + name),
                Answers(200, R"({"status": {"phase": "Active"}})"_json));
  }
}

TEST_F(NamespaceTest, FinalizeChangesTheFinalizers) {
  const std::string name = CreateNamespace();
  const auto finalize = [&](const json& finalizers) {
    return Put("namespaces/" + name + "/finalize",
               Named(name, {{"spec", {{"finalizers", finalizers}}}}));
  };
  EXPECT_THAT(finalize({"x.y/z", "kubernetes"}),
              Answers(200, R"({"spec": {"finalizers":
                               ["x.y/z", "kubernetes"]}})"_json));
  // Only the finalize subresource changes spec.finalizers.
  EXPECT_THAT(
      MergePatch("namespaces/" + name, R"({"spec": {"finalizers": []}})"_json),
      Answers(200,
              R"({"spec": {"finalizers": ["x.y/z", "kubernetes"]}})"_json));
  EXPECT_THAT(finalize({"kubernetes"}), Answers(200));
}

TEST_F(NamespaceTest, APatchOfTheObjectKeepsItsStatus) {
  const std::string name = CreateNamespace();
  EXPECT_THAT(MergePatch("namespaces/" + name,
                         R"({"status": {"phase": "Terminating"}})"_json),
              Answers(200, R"({"status": {"phase": "Active"}})"_json));
}

}  // namespace
}  // namespace minisched
