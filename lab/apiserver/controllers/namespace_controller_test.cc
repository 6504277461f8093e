#include <gmock/gmock.h>

#include "lab/apiserver/controllers/cluster_testing.h"

namespace minisched::apiserver {
namespace {

using ::testing::SizeIs;

class NamespaceControllerTest : public ::testing::Test {
 protected:
  void Make(const std::string& name) {
    cluster_.Create("namespaces", {{"metadata", {{"name", name}}}});
    Settle();
  }

  void Settle() { cluster_.loop.Advance(std::chrono::seconds(1)); }

  TestCluster cluster_;
};

TEST_F(NamespaceControllerTest, RecreatesADeletedSystemNamespace) {
  cluster_.Delete("namespaces", "kube-node-lease");
  Settle();
  EXPECT_THAT(cluster_.Names("namespaces"), SizeIs(4));
}

TEST_F(NamespaceControllerTest, EachNamespaceKeepsItsServiceAccountAndCa) {
  Make("mine");
  EXPECT_FALSE(cluster_.Get("serviceaccounts", "default", "mine").is_null());
  EXPECT_EQ(cluster_.Get("configmaps", "kube-root-ca.crt", "mine")["data"],
            Json({{"ca.crt", ""}}));

  cluster_.Delete("serviceaccounts", "default", {}, "mine");
  cluster_.Delete("configmaps", "kube-root-ca.crt", {}, "mine");
  Settle();
  EXPECT_FALSE(cluster_.Get("serviceaccounts", "default", "mine").is_null());
  EXPECT_FALSE(
      cluster_.Get("configmaps", "kube-root-ca.crt", "mine").is_null());
}

TEST_F(NamespaceControllerTest, ADeletedNamespaceLosesItsObjects) {
  Make("mine");
  Make("other");
  for (const char* ns : {"mine", "other"}) {
    cluster_.Create("configmaps",
                    {{"metadata", {{"name", "a"}, {"namespace", ns}}}});
  }
  cluster_.Delete("namespaces", "mine");
  Settle();
  EXPECT_TRUE(cluster_.Get("namespaces", "mine").is_null());
  EXPECT_TRUE(cluster_.Get("configmaps", "a", "mine").is_null());
  EXPECT_FALSE(cluster_.Get("configmaps", "a", "other").is_null());
}

TEST_F(NamespaceControllerTest, ATerminatingNamespaceStaysUntilItIsEmpty) {
  Make("mine");
  cluster_.Create("configmaps", R"({"metadata": {
    "name": "a", "namespace": "mine", "finalizers": ["example.com/wait"]}})");
  cluster_.Create("pods",
                  TestPod("p", {{"metadata", {{"namespace", "mine"}}},
                                {"spec", {{"nodeName", "somewhere"}}}}));
  cluster_.Delete("namespaces", "mine");
  cluster_.loop.Advance(std::chrono::minutes(5));
  EXPECT_EQ(cluster_.Get("namespaces", "mine")["status"]["phase"],
            "Terminating");
  EXPECT_EQ(GetInt(cluster_.Get("pods", "p", "mine"), "metadata",
                   "deletionGracePeriodSeconds"),
            30);

  cluster_.Delete("pods", "p", {.grace_period = 0}, "mine");
  Settle();
  EXPECT_FALSE(cluster_.Get("namespaces", "mine").is_null());
  cluster_.Patch("configmaps", "a", {{"metadata", {{"finalizers", nullptr}}}},
                 "", "mine");
  Settle();
  EXPECT_TRUE(cluster_.Get("namespaces", "mine").is_null());
}

}  // namespace
}  // namespace minisched::apiserver
