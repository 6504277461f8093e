#include "minisched/apiserver/http/http.h"

#include <gmock/gmock.h>

namespace minisched::apiserver {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

TEST(ParseTargetTest, DecodesPathAndQuery) {
  Request request;
  ASSERT_TRUE(ParseTarget(
      "/api/v1/pods?fieldSelector=spec.nodeName%3Dn%2C1&watch&a=b+c", request));
  EXPECT_EQ(request.path, "/api/v1/pods");
  EXPECT_THAT(
      request.query,
      ElementsAre(Pair("a", "b c"), Pair("fieldSelector", "spec.nodeName=n,1"),
                  Pair("watch", "")));
}

TEST(ParseTargetTest, RefusesWhatIsMalformed) {
  for (const char* target : {"", "api", "/a%", "/a%2", "/a%zz", "/a?b=%1"}) {
    Request request;
    EXPECT_FALSE(ParseTarget(target, request)) << target;
  }
}

TEST(ParseMediaTypesTest, KeepsOrderAndParameters) {
  const auto types = ParseMediaTypes(
      "Application/JSON; as=Table;v=v1 , */*;q=0.5, application/yaml");
  ASSERT_THAT(types, SizeIs(3));
  EXPECT_EQ(types[0].type, "application/json");
  EXPECT_THAT(types[0].parameters,
              ElementsAre(Pair("as", "Table"), Pair("v", "v1")));
  EXPECT_EQ(types[1].type, "*/*");
  EXPECT_EQ(types[2].type, "application/yaml");
  EXPECT_THAT(ParseMediaTypes(""), IsEmpty());
}

}  // namespace
}  // namespace minisched::apiserver
