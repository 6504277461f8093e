#include "minisched/http/http.h"

#include <gmock/gmock.h>

namespace minisched::http {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

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

TEST(ParseTargetTest, KeepsTheValuesOfARepeatedParameter) {
  Request request;
  ASSERT_TRUE(ParseTarget("/readyz?exclude=b&verbose&exclude=a&exclude=c%2Fd",
                          request));
  EXPECT_THAT(request.QueryAll("exclude"), ElementsAre("b", "a", "c/d"));
  EXPECT_EQ(request.Query("exclude"), "b");
  EXPECT_THAT(request.QueryAll("verbose"), ElementsAre(""));
  EXPECT_THAT(request.QueryAll("none"), ElementsAre());
}

TEST(ParseTargetTest, RefusesMalformedTargets) {
  for (const char* target : {"", "api", "/a%", "/a%2", "/a%zz", "/a?b=%1"}) {
    Request request;
    EXPECT_FALSE(ParseTarget(target, request)) << target;
  }
}

TEST(RequestTest, ReturnsTheMediaTypeOfItsBody) {
  const auto type = [](const std::string& header) {
    return Request{.headers = {{"content-type", header}}}.ContentType();
  };
  EXPECT_EQ(type(" Application/JSON ; charset=utf-8"), "application/json");
  EXPECT_EQ(type("application/yaml"), "application/yaml");
  EXPECT_EQ(type(""), "");
  EXPECT_EQ(Request{}.ContentType(), "");
}

}  // namespace
}  // namespace minisched::http
