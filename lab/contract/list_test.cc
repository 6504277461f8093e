// Lists: shape, pages, versions.

#include "lab/contract/contract_testing.h"

namespace minisched {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::StartsWith;

class ListTest : public ContractTest {
 protected:
  void SetUp() override {
    for (const char* name : {"d", "b", "a", "e", "c"}) {
      Create("pods", Pod(name, {{"metadata", {{"labels", {{name, "x"}}}}}}));
    }
  }

  static std::string Continue(const Reply& page) {
    return page.body.at("metadata").value("continue", "");
  }
};

TEST_F(ListTest, ListsHaveAKindAndAVersion) {
  const Reply list = Get("pods");
  EXPECT_THAT(list, Answers(200, R"({
    "kind": "PodList", "apiVersion": "v1",
    "metadata": {"resourceVersion": "...", "continue": null,
                 "remainingItemCount": null, "selfLink": null}})"_json));
  EXPECT_THAT(Names(list.body), ElementsAre("a", "b", "c", "d", "e"));
  // Items have neither a kind nor an apiVersion.
  const json& pod = list.body.at("items").at(0);
  EXPECT_FALSE(pod.contains("kind"));
  EXPECT_FALSE(pod.contains("apiVersion"));
  EXPECT_THAT(Read("pods/a"), JsonHas(pod));
}

TEST_F(ListTest, AnEmptyListHasAnEmptyArrayOfItems) {
  EXPECT_THAT(Get("leases"), Answers(200, R"({
    "kind": "LeaseList", "apiVersion": "coordination.k8s.io/v1",
    "metadata": {"resourceVersion": "..."}, "items": []})"_json));
}

TEST_F(ListTest, ListsNothingInAMissingNamespace) {
  EXPECT_THAT(Get("/api/v1/namespaces/contract-nowhere/pods"),
              Answers(200, R"({"kind": "PodList", "items": []})"_json));
}

TEST_F(ListTest, ListsAllNamespaces) {
  const json list =
      Read("/api/v1/pods?fieldSelector=metadata.namespace=" + namespace_name());
  EXPECT_THAT(Names(list), ElementsAre("a", "b", "c", "d", "e"));
  EXPECT_THAT(Names(Read("/api/v1/pods")), IsSupersetOf(Names(list)));
}

TEST_F(ListTest, AListHasTheServersLatestVersion) {
  const long created = std::stol(Version(Create("pods", Pod("f"))));
  const long listed = std::stol(Version(Read("pods")));
  EXPECT_GE(listed, created);
  EXPECT_GE(std::stol(Version(Read("leases"))), listed);
}

TEST_F(ListTest, ALimitSplitsAListIntoPages) {
  const Reply first = Get("pods?limit=2");
  EXPECT_THAT(first, Answers(200, R"({"metadata": {"continue": "...",
                               "remainingItemCount": 3}})"_json));
  EXPECT_THAT(Names(first.body), ElementsAre("a", "b"));

  const Reply second = Get("pods?limit=2&continue=" + Continue(first));
  EXPECT_THAT(second, Answers(200, {{"metadata",
                                     {{"resourceVersion", Version(first.body)},
                                      {"continue", "..."},
                                      {"remainingItemCount", 1}}}}));
  EXPECT_THAT(Names(second.body), ElementsAre("c", "d"));

  const Reply third = Get("pods?limit=2&continue=" + Continue(second));
  EXPECT_THAT(third, Answers(200, {{"metadata",
                                    {{"resourceVersion", Version(first.body)},
                                     {"continue", nullptr},
                                     {"remainingItemCount", nullptr}}}}));
  EXPECT_THAT(Names(third.body), ElementsAre("e"));
}

TEST_F(ListTest, PagesShowOneSnapshot) {
  const Reply first = Get("pods?limit=2");
  Delete("pods/c");
  Create("pods", Pod("bb"));
  MergePatch("pods/d", R"({"metadata": {"labels": {"new": "x"}}})"_json);
  // Without a limit, the page has all remaining items.
  const Reply rest = Get("pods?continue=" + Continue(first));
  EXPECT_THAT(Names(rest.body), ElementsAre("c", "d", "e"));
  EXPECT_EQ(Version(rest.body), Version(first.body));
  EXPECT_FALSE(
      rest.body.at("items").at(1).at("metadata").at("labels").contains("new"));
  EXPECT_THAT(Names(Read("pods")), ElementsAre("a", "b", "bb", "d", "e"));
}

// With a selector, the server does not return the number of remaining items.
TEST_F(ListTest, SelectorsWorkWithPages) {
  const Reply first = Get("pods?limit=2&labelSelector=!a");
  EXPECT_THAT(Names(first.body), ElementsAre("b", "c"));
  EXPECT_THAT(first, Answers(200, R"({"metadata": {"continue": "...",
                                      "remainingItemCount": null}})"_json));
  EXPECT_THAT(
      Names(Get("pods?labelSelector=!a&continue=" + Continue(first)).body),
      ElementsAre("d", "e"));
}

TEST_F(ListTest, ALargeZeroOrNegativeLimitReturnsAllItems) {
  EXPECT_THAT(Names(Read("pods?limit=5")), testing::SizeIs(5));
  EXPECT_EQ(Continue(Get("pods?limit=5")), "");
  EXPECT_THAT(Names(Read("pods?limit=0")), testing::SizeIs(5));
  EXPECT_THAT(Names(Read("pods?limit=-1")), testing::SizeIs(5));
  EXPECT_THAT(Get("pods?limit=abc"),
              Refuses(400, "BadRequest", HasSubstr("\"abc\"")));
}

TEST_F(ListTest, RejectsAnInvalidContinueToken) {
  EXPECT_THAT(
      Get("pods?continue=nonsense"),
      Refuses(400, "BadRequest",
              StartsWith("invalid continue token: continue key is not valid: "
                         "")));
}

TEST_F(ListTest, AcceptsOlderVersions) {
  const std::string version = Version(Read("pods"));
  for (const std::string& query :
       {std::string("resourceVersion=0"),
        std::string("resourceVersion=0&resourceVersionMatch=NotOlderThan"),
        "resourceVersion=" + version,
        "resourceVersionMatch=NotOlderThan&resourceVersion=" + version}) {
    const json list = Read("pods?" + query);
    EXPECT_GE(std::stol(Version(list)), std::stol(version)) << query;
    EXPECT_THAT(Names(list), ElementsAre("a", "b", "c", "d", "e")) << query;
  }
}

TEST_F(ListTest, ListsAnExactVersion) {
  const std::string version = Version(Read("pods"));
  Delete("pods/a");
  const json list =
      Read("pods?resourceVersionMatch=Exact&resourceVersion=" + version);
  EXPECT_THAT(Names(list), ElementsAre("a", "b", "c", "d", "e"));
  EXPECT_EQ(Version(list), version);
}

// The server waits for the version for a while before it returns the error.
TEST_F(ListTest, TimesOutOnAFutureVersion) {
  const Reply reply = Get("pods?resourceVersion=999999999");
  EXPECT_THAT(reply, Refuses(504, "Timeout",
                             StartsWith("Timeout: Too large resource version: "
                                        "999999999, current: "),
                             R"({"retryAfterSeconds": 1, "causes": [
                          {"reason": "ResourceVersionTooLarge",
                           "message": "Too large resource version"}]})"_json));
}

// Skipped unless the server has compacted its first versions.
TEST_F(ListTest, RejectsACompactedVersion) {
  const Reply reply = Get("pods?resourceVersion=1&resourceVersionMatch=Exact");
  if (reply.status == 200)
    GTEST_SKIP() << "the server has not compacted its history yet";
  EXPECT_THAT(reply,
              Refuses(410, "Expired",
                      "The resourceVersion for the provided list is too old."));
  // The token is {"v":"meta.k8s.io/v1","rv":1,"start":"/a\u0000"}
  EXPECT_THAT(
      Get("pods?limit=1&continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3Rhcn"
          "QiOiIvYVx1MDAwMCJ9"),
      Refuses(410, "Expired",
              StartsWith("The provided continue parameter is too old to "
                         "display a consistent list result.")));
}

TEST_F(ListTest, RejectsAnInvalidVersion) {
  EXPECT_THAT(Get("pods?resourceVersion=abc"),
              Refuses(400, "BadRequest", HasSubstr("Invalid value: \"abc\"")));
}

TEST_F(ListTest, RejectsInvalidOptions) {
  const std::string match = "resourceVersionMatch: ";
  EXPECT_THAT(
      Get("pods?resourceVersionMatch=Exact"),
      Invalid("ListOptions.meta.k8s.io", "",
              {match + "Forbidden: resourceVersionMatch is forbidden unless "
                       "resourceVersion is provided"}));
  EXPECT_THAT(Get("pods?resourceVersion=1&resourceVersionMatch=Bad"),
              Invalid("ListOptions.meta.k8s.io", "",
                      {match + "Unsupported value: \"Bad\": supported values: "
                               "\"Exact\", \"NotOlderThan\", \"\""}));
}

}  // namespace
}  // namespace minisched
