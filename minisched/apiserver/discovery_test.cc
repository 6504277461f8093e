#include "minisched/apiserver/discovery.h"

#include <gtest/gtest.h>

#include <string>

#include "minisched/apiserver/errors.h"

namespace minisched::apiserver {
namespace {

TEST(DiscoveryTest, Groups) {
  EXPECT_EQ(ApiVersions("localhost:1"),
            Json::parse(R"({"kind": "APIVersions", "versions": ["v1"],
                            "serverAddressByClientCIDRs": [
                                {"clientCIDR": "0.0.0.0/0",
                                 "serverAddress": "localhost:1"}]})"));
  EXPECT_EQ(
      ApiGroup("apps"),
      Json::parse(R"({"kind": "APIGroup", "apiVersion": "v1", "name": "apps",
          "versions": [{"groupVersion": "apps/v1", "version": "v1"}],
          "preferredVersion": {"groupVersion": "apps/v1", "version": "v1"}})"));
  EXPECT_THROW(ApiGroup("nope"), StatusError);
  EXPECT_THROW(ApiGroup(""), StatusError);

  const Json list = ApiGroupList();
  std::string names;
  for (const Json& group : list["groups"]) {
    names += GetString(group, "name") + " ";
  }
  EXPECT_EQ(names,
            "apps events.k8s.io policy storage.k8s.io scheduling.k8s.io "
            "coordination.k8s.io resource.k8s.io ");
}

TEST(DiscoveryTest, Resources) {
  EXPECT_EQ(ApiResourceList("policy", "v1"), Json::parse(R"({
      "kind": "APIResourceList", "apiVersion": "v1",
      "groupVersion": "policy/v1",
      "resources": [
          {"name": "poddisruptionbudgets", "kind": "PodDisruptionBudget",
           "singularName": "poddisruptionbudget", "namespaced": true,
           "shortNames": ["pdb"],
           "verbs": ["create", "delete", "deletecollection", "get", "list",
                     "patch", "update", "watch"]},
          {"name": "poddisruptionbudgets/status", "kind": "PodDisruptionBudget",
           "singularName": "", "namespaced": true,
           "verbs": ["get", "patch", "update"]}]})"));
  EXPECT_FALSE(ApiResourceList("", "v1").contains("apiVersion"));
  EXPECT_THROW(ApiResourceList("policy", "v1beta1"), StatusError);
  EXPECT_THROW(ApiResourceList("", "v2"), StatusError);
}

TEST(DiscoveryTest, SubresourcesOfOtherKinds) {
  const Json list = ApiResourceList("", "v1");
  EXPECT_EQ(FindBy(list["resources"], "name", "pods/eviction"), Json::parse(R"({
      "name": "pods/eviction", "singularName": "", "namespaced": true,
      "group": "policy", "version": "v1", "kind": "Eviction",
      "verbs": ["create"]})"));
  EXPECT_EQ(FindBy(list["resources"], "name", "pods/binding"), Json::parse(R"({
      "name": "pods/binding", "singularName": "", "namespaced": true,
      "kind": "Binding", "verbs": ["create"]})"));
}

}  // namespace
}  // namespace minisched::apiserver
