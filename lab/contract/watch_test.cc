// Watches: their start, events and end.

#include "lab/contract/contract_testing.h"

namespace minisched {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class WatchTest : public ContractTest {
 protected:
  std::string CurrentVersion() { return Version(Read("pods")); }

  void CreatePod(const std::string& name) {
    Create("pods", Pod(name, R"({"metadata": {"labels": {"x": "1"}}})"_json));
  }

  void Label(const std::string& name, const json& labels) {
    EXPECT_THAT(
        MergePatch("pods/" + name, {{"metadata", {{"labels", labels}}}}),
        Answers(200));
  }

  // Returns the response to a watch request that the server rejects.
  Reply Refusal(const std::string& query) {
    return Get("pods?watch=1" + query);
  }
};

TEST_F(WatchTest, StartsAtAVersion) {
  CreatePod("old");
  WatchReader watch = Watch("pods?resourceVersion=" + CurrentVersion());
  CreatePod("a");
  Label("a", {{"y", "2"}});
  Delete("pods/a");
  // The second MODIFIED sets the deletionTimestamp.
  EXPECT_THAT(watch.Next(4),
              ElementsAre("ADDED a", "MODIFIED a", "MODIFIED a", "DELETED a"));
}

TEST_F(WatchTest, EventsHaveTheStateOfTheObject) {
  WatchReader watch = Watch(
      "configmaps?fieldSelector=metadata.name=a"
      "&resourceVersion=" +
      CurrentVersion());
  const json created = Create("configmaps", Named("a"));
  EXPECT_EQ(watch.Next(), (json{{"type", "ADDED"}, {"object", created}}));
  const json patched =
      MergePatch("configmaps/a", R"({"data": {"k": "v"}})"_json).body;
  EXPECT_EQ(watch.Next(), (json{{"type", "MODIFIED"}, {"object", patched}}));
  Delete("configmaps/a");
  // The event has the object's last state and the version of the deletion.
  json deleted = watch.Next().value();
  EXPECT_EQ(deleted.at("type"), "DELETED");
  EXPECT_GT(std::stol(Version(deleted.at("object"))),
            std::stol(Version(patched)));
  deleted["object"]["metadata"]["resourceVersion"] = Version(patched);
  EXPECT_EQ(deleted.at("object"), patched);
}

TEST_F(WatchTest, AnswersInChunks) {
  const WatchReader watch = Watch("pods?resourceVersion=" + CurrentVersion());
  EXPECT_EQ(watch.status(), 200);
  EXPECT_EQ(watch.headers().at("content-type"), "application/json");
  EXPECT_EQ(watch.headers().at("transfer-encoding"), "chunked");
}

TEST_F(WatchTest, WithoutAVersionStartsWithExistingObjects) {
  CreatePod("b");
  CreatePod("a");
  WatchReader watch = Watch("pods");
  EXPECT_THAT(watch.Next(2), ElementsAre("ADDED a", "ADDED b"));
  CreatePod("c");
  EXPECT_THAT(watch.Next(1), ElementsAre("ADDED c"));
}

TEST_F(WatchTest, VersionZeroStartsWithExistingObjects) {
  CreatePod("a");
  WatchReader watch = Watch("pods?resourceVersion=0");
  EXPECT_THAT(watch.Next(1), ElementsAre("ADDED a"));
}

TEST_F(WatchTest, AnOldVersionReplaysLaterEvents) {
  const std::string version = CurrentVersion();
  CreatePod("a");
  Label("a", {{"y", "2"}});
  CreatePod("b");
  WatchReader watch = Watch("pods?resourceVersion=" + version);
  EXPECT_THAT(watch.Next(3), ElementsAre("ADDED a", "MODIFIED a", "ADDED b"));
}

TEST_F(WatchTest, AnUpdateWithoutChangesSendsNoEvent) {
  CreatePod("a");
  WatchReader watch = Watch("pods?resourceVersion=" + CurrentVersion());
  Label("a", {{"x", "1"}});
  CreatePod("b");
  EXPECT_THAT(watch.Next(1), ElementsAre("ADDED b"));
}

TEST_F(WatchTest, ReportsObjectsThatStartOrStopMatchingALabelSelector) {
  WatchReader watch =
      Watch("pods?labelSelector=y=2&resourceVersion=" + CurrentVersion());
  CreatePod("a");
  Label("a", {{"y", "2"}});
  Label("a", {{"z", "3"}});
  Label("a", {{"y", "1"}});
  Label("a", {{"y", "2"}});
  Delete("pods/a");
  EXPECT_THAT(watch.Next(6), ElementsAre("ADDED a", "MODIFIED a", "DELETED a",
                                         "ADDED a", "MODIFIED a", "DELETED a"));
}

// The event has the object's old state and the version of the change.
TEST_F(WatchTest, ReportsAnObjectThatNoLongerMatchesAsDeleted) {
  CreatePod("a");
  WatchReader watch =
      Watch("pods?labelSelector=x=1&resourceVersion=" + CurrentVersion());
  const json patched =
      MergePatch("pods/a", R"({"metadata": {"labels": {"x": "2"}}})"_json).body;
  EXPECT_THAT(watch.Next().value(),
              JsonHas({{"type", "DELETED"},
                       {"object",
                        {{"metadata",
                          {{"name", "a"},
                           {"labels", {{"x", "1"}}},
                           {"resourceVersion", Version(patched)}}}}}}));
}

TEST_F(WatchTest, AWatchOfUnboundPodsReportsABoundPodAsDeleted) {
  WatchReader watch = Watch(
      "pods?fieldSelector=spec.nodeName=&resourceVersion=" + CurrentVersion());
  CreatePod("a");
  Post("pods/a/binding",
       Named("a", R"({"target": {"name": "contract-nowhere"}})"_json));
  EXPECT_THAT(watch.Next(2), ElementsAre("ADDED a", "DELETED a"));
}

TEST_F(WatchTest, WatchesOneObject) {
  CreatePod("a");
  CreatePod("b");
  WatchReader watch = Watch("pods?fieldSelector=metadata.name=b");
  EXPECT_THAT(watch.Next(1), ElementsAre("ADDED b"));
  Label("a", {{"y", "2"}});
  Label("b", {{"y", "2"}});
  EXPECT_THAT(watch.Next(1), ElementsAre("MODIFIED b"));
}

TEST_F(WatchTest, WatchesAllNamespaces) {
  WatchReader watch = Watch(
      "/api/v1/pods?fieldSelector=metadata.namespace=" + namespace_name() +
      "&resourceVersion=" + CurrentVersion());
  CreatePod("a");
  EXPECT_THAT(watch.Next(1), ElementsAre("ADDED a"));
}

TEST_F(WatchTest, EndsAfterItsTimeout) {
  CreatePod("a");
  WatchReader watch = Watch("pods?timeoutSeconds=1");
  EXPECT_THAT(watch.Next(2), ElementsAre("ADDED a", "the end"));
}

// After a watch, some clients reuse the connection for the next request.
TEST_F(WatchTest, KeepsTheConnectionAlive) {
  WatchReader watch = Watch("pods");
  EXPECT_FALSE(watch.headers().contains("connection"));
}

TEST_F(WatchTest, SendsABookmarkBeforeTheEnd) {
  CreatePod("a");
  WatchReader watch = Watch(
      "pods?timeoutSeconds=6&allowWatchBookmarks=true"
      "&resourceVersion=" +
      CurrentVersion());
  // Without a change of pods, the real server may send no bookmark.
  CreatePod("b");
  std::optional<json> last;
  while (const auto event = watch.Next()) last = event;
  ASSERT_TRUE(last);
  EXPECT_THAT(*last, JsonHas(R"({"type": "BOOKMARK", "object": {
    "kind": "Pod", "apiVersion": "v1",
    "metadata": {"resourceVersion": "...", "name": null,
                 "annotations": null}}})"_json));
}

TEST_F(WatchTest, SendsInitialEventsAndABookmark) {
  CreatePod("b");
  CreatePod("a");
  const std::string listed = CurrentVersion();
  WatchReader watch = Watch(
      "pods?sendInitialEvents=true&allowWatchBookmarks=true"
      "&resourceVersionMatch=NotOlderThan");
  EXPECT_THAT(watch.Next(2), ElementsAre("ADDED a", "ADDED b"));
  const json bookmark = watch.Next().value();
  EXPECT_THAT(bookmark, JsonHas(R"({"type": "BOOKMARK", "object": {
    "kind": "Pod", "apiVersion": "v1",
    "metadata": {"resourceVersion": "...",
      "annotations": {"k8s.io/initial-events-end": "true"}}}})"_json));
  EXPECT_GE(std::stol(Version(bookmark.at("object"))), std::stol(listed));
  CreatePod("c");
  EXPECT_THAT(watch.Next(1), ElementsAre("ADDED c"));
}

TEST_F(WatchTest, SendsABookmarkEvenIfThereAreNoInitialEvents) {
  WatchReader watch = Watch(
      "pods?sendInitialEvents=true&allowWatchBookmarks=true"
      "&resourceVersionMatch=NotOlderThan&resourceVersion=0");
  EXPECT_THAT(watch.Next().value(),
              JsonHas(R"({"type": "BOOKMARK", "object": {"metadata": {
                "annotations": {"k8s.io/initial-events-end": "true"}}}})"_json));
}

TEST_F(WatchTest, SendsNoInitialEventsIfSendInitialEventsIsFalse) {
  CreatePod("a");
  WatchReader watch = Watch(
      "pods?sendInitialEvents=false"
      "&resourceVersionMatch=NotOlderThan");
  CreatePod("b");
  EXPECT_THAT(watch.Next(1), ElementsAre("ADDED b"));
}

TEST_F(WatchTest, RejectsInvalidOptions) {
  const std::string match = "resourceVersionMatch: Forbidden: ";
  EXPECT_THAT(Refusal("&sendInitialEvents=true"),
              Invalid("ListOptions.meta.k8s.io", "",
                      {match + "sendInitialEvents requires setting "
                               "resourceVersionMatch to NotOlderThan"}));
}

TEST_F(WatchTest, RejectsInvalidRequests) {
  EXPECT_THAT(Refusal("&timeoutSeconds=abc"),
              Refuses(400, "BadRequest", testing::HasSubstr("\"abc\"")));
  EXPECT_THAT(
      Refusal("&fieldSelector=spec.foo=b"),
      Refuses(400, "BadRequest", "field label not supported: spec.foo"));
  EXPECT_THAT(
      Refusal("&resourceVersion=abc"),
      Refuses(500, "",
              testing::StartsWith("resourceVersion: Invalid value: \"abc\"")));
  EXPECT_THAT(Get("/api/v1/nope?watch=1"),
              Refuses(404, "NotFound",
                      "the server could not find the requested resource"));
}

// Skipped unless the server has compacted its first versions.
TEST_F(WatchTest, ReportsACompactedVersion) {
  WatchReader watch = Watch("pods?resourceVersion=1&timeoutSeconds=1");
  EXPECT_EQ(watch.status(), 200);
  const auto event = watch.Next();
  if (!event || event->at("type") != "ERROR") {
    GTEST_SKIP() << "the server has not compacted its history yet";
  }
  EXPECT_THAT(*event, JsonHas(R"({"object": {
    "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
    "reason": "Expired", "code": 410}})"_json));
  EXPECT_THAT(
      event->at("object").at("message").get<std::string>(),
      testing::MatchesRegex("too old resource version: 1 \\([0-9]+\\)"));
  EXPECT_FALSE(watch.Next());
}

TEST_F(WatchTest, SendsTables) {
  CreatePod("a");
  CreatePod("b");
  WatchReader watch = Watch(
      "pods", {{"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}});
  const json first = watch.Next().value();
  EXPECT_THAT(first, JsonHas(R"({"type": "ADDED", "object": {
    "kind": "Table", "apiVersion": "meta.k8s.io/v1",
    "metadata": {"resourceVersion": "..."},
    "columnDefinitions": "...",
    "rows": [{"object": {"kind": "PartialObjectMetadata",
                         "metadata": {"name": "a"}}}]}})"_json));
  // Only the first event has the columns.
  EXPECT_THAT(watch.Next().value(), JsonHas(R"({"type": "ADDED", "object": {
    "kind": "Table", "columnDefinitions": null,
    "rows": [{"object": {"metadata": {"name": "b"}}}]}})"_json));
}

}  // namespace
}  // namespace minisched
