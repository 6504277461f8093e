#include "lab/apiserver/list_options.h"

#include <gtest/gtest.h>

#include "lab/apiserver/errors.h"

namespace minisched::apiserver {
namespace {

const ResourceRow& Pods() { return GetResource("", "pods"); }

Json Pod() {
  return {{"metadata", {{"name", "web"}, {"namespace", "default"}}},
          {"spec", {{"nodeName", "node-1"}, {"restartPolicy", "Always"}}},
          {"status", {{"phase", "Running"}}}};
}

ListOptions Parse(const std::string& target, const std::string& name = "",
                  const ResourceRow& row = Pods()) {
  Request request;
  EXPECT_TRUE(ParseTarget(target, request));
  return ListOptions::Parse(request, row, "default", name);
}

// Returns the status and message for the selector "TERM,TERM,…".
std::string RefusalOfTerms(const std::string& parameter,
                           const std::string& term, int terms) {
  std::string selector;
  for (int i = 0; i < terms; ++i) selector += (i > 0 ? "," : "") + term;
  try {
    Parse("/?" + parameter + "=" + selector);
  } catch (const StatusError& error) {
    return std::to_string(error.code()) + " " + error.what();
  }
  return "";
}

TEST(ListOptionsTest, RefusesSelectorsWithVeryManyTerms) {
  const std::string message =
      "413 Request entity too large: a selector has at most 1000 terms";
  EXPECT_EQ(RefusalOfTerms("labelSelector", "!a", 1000), "");
  EXPECT_EQ(RefusalOfTerms("labelSelector", "!a", 1001), message);
  EXPECT_EQ(RefusalOfTerms("fieldSelector", "status.phase!=a", 1000), "");
  EXPECT_EQ(RefusalOfTerms("fieldSelector", "status.phase!=a", 1001), message);
}

TEST(ListOptionsTest, ANameInThePathSelectsByName) {
  EXPECT_TRUE(Parse("/", "web").Matches(Pod()));
  EXPECT_FALSE(Parse("/", "db").Matches(Pod()));
  EXPECT_TRUE(
      Parse("/?fieldSelector=metadata.name%3Dweb", "web").Matches(Pod()));
  EXPECT_FALSE(
      Parse("/?fieldSelector=metadata.name%3Ddb", "web").Matches(Pod()));
}

TEST(ListOptionsTest, RefusesInvalidOptions) {
  for (const char* query : {"resourceVersionMatch=Exact",
                            "resourceVersion=0&resourceVersionMatch=Exact",
                            "resourceVersion=1&resourceVersionMatch=Sometimes",
                            "watch=1&sendInitialEvents=1", "limit=many",
                            "labelSelector=a%3D%3D%3D"}) {
    EXPECT_THROW(Parse("/?" + std::string(query)), StatusError) << query;
  }
}

}  // namespace
}  // namespace minisched::apiserver
