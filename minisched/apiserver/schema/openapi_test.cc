#include "minisched/apiserver/schema/openapi.h"

#include <gtest/gtest.h>

namespace minisched::apiserver {
namespace {

TEST(OpenApiTest, HasAnIndex) {
  const Json paths = OpenApiV3Index()["paths"];
  EXPECT_EQ(GetString(paths, "api/v1", "serverRelativeURL"),
            "/openapi/v3/api/v1");
  EXPECT_EQ(GetString(paths, "apis/apps/v1", "serverRelativeURL"),
            "/openapi/v3/apis/apps/v1");
  EXPECT_TRUE(OpenApiV3("nosuch", "v1").is_null());
}

// What kubectl wants to know before it creates or applies.
TEST(OpenApiTest, SaysWhatAPatchTakes) {
  const Json document = OpenApiV3("", "v1");
  const Json& patch = Get(
      document, "paths", "/api/v1/namespaces/{namespace}/pods/{name}", "patch");
  EXPECT_EQ(Get(patch, "x-kubernetes-group-version-kind"),
            Json({{"group", ""}, {"version", "v1"}, {"kind", "Pod"}}));
  EXPECT_EQ(
      GetString(FindBy(Get(patch, "parameters"), "name", "fieldValidation"),
                "in"),
      "query");
  EXPECT_TRUE(Get(document, "paths", "/api/v1/nodes/{name}").is_object());
}

}  // namespace
}  // namespace minisched::apiserver
