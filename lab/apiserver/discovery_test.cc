#include "lab/apiserver/discovery.h"

#include <gtest/gtest.h>

#include <string>

namespace minisched::apiserver {
namespace {

class DiscoveryTest : public testing::Test {
 protected:
  const std::map<std::string, Json> documents_ =
      DiscoveryDocuments("localhost:1");
};

TEST_F(DiscoveryTest, ListsGroupsAndVersions) {
  EXPECT_EQ(documents_.at("/api"),
            Json::parse(R"({"kind": "APIVersions", "versions": ["v1"],
                            "serverAddressByClientCIDRs": [
                                {"clientCIDR": "0.0.0.0/0",
                                 "serverAddress": "localhost:1"}]})"));
  EXPECT_EQ(
      documents_.at("/apis/apps"),
      Json::parse(R"({"kind": "APIGroup", "apiVersion": "v1", "name": "apps",
          "versions": [{"groupVersion": "apps/v1", "version": "v1"}],
          "preferredVersion": {"groupVersion": "apps/v1", "version": "v1"}})"));
  EXPECT_FALSE(documents_.contains("/apis/"));

  std::string names;
  for (const Json& group : documents_.at("/apis").at("groups")) {
    names += GetString(group, "name") + " ";
  }
  EXPECT_EQ(names,
            "apps events.k8s.io authentication.k8s.io "
            "authorization.k8s.io batch networking.k8s.io policy "
            "rbac.authorization.k8s.io storage.k8s.io scheduling.k8s.io "
            "coordination.k8s.io node.k8s.io discovery.k8s.io "
            "resource.k8s.io ");
}

// As on a real server.
TEST_F(DiscoveryTest, OnlyTheListOfTheCoreGroupHasNoVersion) {
  EXPECT_EQ(GetString(documents_.at("/apis/policy/v1"), "apiVersion"), "v1");
  EXPECT_FALSE(documents_.at("/api/v1").contains("apiVersion"));
}

TEST_F(DiscoveryTest, OpenApiIndexLinksTheDocumentsOfTheGroups) {
  const Json& paths = documents_.at("/openapi/v3").at("paths");
  EXPECT_EQ(GetString(paths, "api/v1", "serverRelativeURL"),
            "/openapi/v3/api/v1");
  EXPECT_EQ(GetString(paths, "apis/apps/v1", "serverRelativeURL"),
            "/openapi/v3/apis/apps/v1");
}

// kubectl looks for fieldValidation before it creates or applies an object.
TEST_F(DiscoveryTest, OpenApiListsTheParametersOfAPatch) {
  const Json& paths = documents_.at("/openapi/v3/api/v1").at("paths");
  const Json& patch =
      Get(paths, "/api/v1/namespaces/{namespace}/pods/{name}", "patch");
  EXPECT_EQ(Get(patch, "x-kubernetes-group-version-kind"),
            Json({{"group", ""}, {"version", "v1"}, {"kind", "Pod"}}));
  const Json& validation =
      FindBy(Get(patch, "parameters"), "name", "fieldValidation");
  EXPECT_EQ(GetString(validation, "in"), "query");
  EXPECT_TRUE(Get(paths, "/api/v1/nodes/{name}").is_object());
}

}  // namespace
}  // namespace minisched::apiserver
