#include "minisched/apiserver/openapi.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "minisched/apiserver/resources.h"

namespace minisched::apiserver {
namespace {

using ::testing::ContainsRegex;

const Json kPod = {{"group", ""}, {"version", "v1"}, {"kind", "Pod"}};

// What upstream has under this name.
const Json& Component(const std::string& name) {
  return Get(OpenApiV3("", "v1"), "components", "schemas", name);
}

TEST(OpenApiTest, HasAnIndex) {
  const Json& paths = OpenApiV3Index()["paths"];
  EXPECT_THAT(GetString(paths, "api/v1", "serverRelativeURL"),
              ContainsRegex("^/openapi/v3/api/v1\\?hash=[0-9]+$"));
  EXPECT_THAT(GetString(paths, "apis/apps/v1", "serverRelativeURL"),
              ContainsRegex("^/openapi/v3/apis/apps/v1\\?hash=[0-9]+$"));
  EXPECT_TRUE(OpenApiV3("nosuch", "v1").is_null());
}

// What kubectl wants to know before it creates or applies: that the server
// validates fields, and merges lists.
TEST(OpenApiTest, SaysWhatAPatchTakes) {
  const Json& paths = OpenApiV3("", "v1")["paths"];
  for (const char* path :
       {"/api/v1/namespaces/{namespace}/pods/{name}",
        "/api/v1/namespaces/{namespace}/pods/{name}/status"}) {
    const Json& patch = Get(paths, path, "patch");
    EXPECT_EQ(Get(patch, "x-kubernetes-group-version-kind"), kPod) << path;
    EXPECT_EQ(
        GetString(FindBy(Get(patch, "parameters"), "name", "fieldValidation"),
                  "in"),
        "query")
        << path;
    EXPECT_TRUE(Get(patch, "requestBody", "content",
                    "application/strategic-merge-patch+json")
                    .is_object())
        << path;
  }
}

TEST(OpenApiTest, HasThePathsThatAreServed) {
  const Json& paths = OpenApiV3("", "v1")["paths"];
  EXPECT_TRUE(Get(paths, "/api/v1/pods", "get").is_object());
  EXPECT_TRUE(
      Get(paths, "/api/v1/namespaces/{namespace}/pods", "post").is_object());
  EXPECT_TRUE(Get(paths, "/api/v1/nodes/{name}", "delete").is_object());
  EXPECT_EQ(
      GetString(paths, "/api/v1/namespaces/{namespace}/pods/{name}/eviction",
                "post", "x-kubernetes-group-version-kind", "kind"),
      "Eviction");
  EXPECT_EQ(GetString(OpenApiV3("apps", "v1"), "paths",
                      "/apis/apps/v1/namespaces/{namespace}/deployments/{name}/"
                      "scale",
                      "get", "x-kubernetes-group-version-kind", "group"),
            "autoscaling");
}

TEST(OpenApiTest, DescribesFields) {
  const Json& pod = Component("io.k8s.api.core.v1.Pod");
  EXPECT_EQ(pod["x-kubernetes-group-version-kind"], Json::array({kPod}));
  EXPECT_EQ(pod["properties"]["spec"], Json::parse(R"(
      {"allOf": [{"$ref": "#/components/schemas/io.k8s.api.core.v1.PodSpec"}]}
      )"));
  const Json& spec = Component("io.k8s.api.core.v1.PodSpec")["properties"];
  EXPECT_EQ(spec["nodeName"], Json::parse(R"({"type": "string"})"));
  EXPECT_EQ(spec["volumes"], Json::parse(R"(
      {"type": "array",
       "items": {"allOf": [
           {"$ref": "#/components/schemas/io.k8s.api.core.v1.Volume"}]},
       "x-kubernetes-patch-merge-key": "name",
       "x-kubernetes-patch-strategy": "merge,retainKeys"})"));
  EXPECT_EQ(spec["overhead"], Json::parse(R"(
      {"type": "object", "additionalProperties": {"$ref":
         "#/components/schemas/io.k8s.apimachinery.pkg.api.resource.Quantity"}
      })"));
  EXPECT_EQ(Component("io.k8s.apimachinery.pkg.api.resource.Quantity"),
            Json::parse(R"({"oneOf": [{"type": "string"},
                                      {"type": "number"}]})"));
  const Json& volume = Component("io.k8s.api.core.v1.Volume")["properties"];
  EXPECT_TRUE(volume.contains("emptyDir"));
}

TEST(OpenApiTest, HasAllThatItRefersTo) {
  for (const ResourceRow& row : AllResources()) {
    const Json& document = OpenApiV3(row.group, row.version);
    for (const Json& value : document.flatten()) {
      const std::string prefix = "#/components/schemas/";
      if (!value.is_string()) continue;
      const std::string text = value;
      if (!text.starts_with(prefix)) continue;
      EXPECT_TRUE(
          Get(document, "components", "schemas", text.substr(prefix.size()))
              .is_object())
          << text;
    }
  }
}

}  // namespace
}  // namespace minisched::apiserver
