// Tests that pods and nodes keep the JSON from the server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "minisched/api/json.h"
#include "minisched/api/namespace.h"
#include "minisched/api/node.h"
#include "minisched/api/pod.h"
#include "minisched/api/watch_event.h"

namespace minisched {
namespace {

// Returns the JSON that the only object of a list keeps, or "" if none.
template <class T>
std::string KeptOf(const std::string& object, bool keep_json = true) {
  const auto list =
      FromJson<ObjectList<T>>(R"({"items":[)" + object + "]}", keep_json);
  EXPECT_EQ(list.items.size(), 1);
  const auto& kept = list.items.at(0)->whole_json;
  return kept ? *kept : "";
}

// Returns the JSON that the object of a watch event keeps, or "" if none.
template <class T>
std::string KeptOfEvent(const std::string& type, const std::string& object,
                        bool keep_json = true) {
  const auto event = FromJson<WatchEvent<T>>(
      R"({"type":")" + type + R"(","object":)" + object + "}", keep_json);
  if (!event.object) return "no object";
  return event.object->whole_json ? *event.object->whole_json : "";
}

// A pod with fields that Pod doesn't have, and what it keeps.
constexpr char kPod[] = R"({
  "kind": "Pod", "apiVersion": "v1",
  "metadata": {"name": "web", "uid": "u1", "managedFields": [{"manager": "x"}]},
  "spec": {"hostUsers": false, "containers": [], "overhead": null},
  "later": [1.5, "é\n"]})";
constexpr char kKeptPod[] =
    R"({"later":[1.5,"\u00e9\n"],"metadata":{"name":"web","uid":"u1"},)"
    R"("spec":{"containers":[],"hostUsers":false,"overhead":null}})";

// Items of a list have no kind, but objects of events do.
TEST(WholeJsonTest, KeepsAllButKindVersionAndManagedFields) {
  EXPECT_EQ(KeptOf<Pod>(kPod), kKeptPod);
  EXPECT_EQ(KeptOfEvent<Pod>("ADDED", kPod), kKeptPod);
  EXPECT_EQ(KeptOfEvent<Pod>("MODIFIED", kPod), kKeptPod);
  EXPECT_EQ(KeptOfEvent<Pod>("DELETED", kPod), kKeptPod);
  EXPECT_EQ(KeptOf<Node>(R"({"kind":"Node","spec":{"kind":"a"}})"),
            R"({"spec":{"kind":"a"}})");
}

TEST(WholeJsonTest, KeepsNothingUnlessItIsAskedFor) {
  EXPECT_EQ(KeptOf<Pod>(kPod, /*keep_json=*/false), "");
  EXPECT_EQ(KeptOfEvent<Pod>("ADDED", kPod, /*keep_json=*/false), "");
  EXPECT_EQ(
      FromJson<ObjectList<Node>>(R"({"items":[{}]})").items[0]->whole_json,
      nullptr);
}

TEST(WholeJsonTest, ASingleObjectKeepsNothing) {
  EXPECT_EQ(FromJson<Pod>(kPod, true).whole_json, nullptr);
  EXPECT_EQ(FromJson<Node>("{}", true).whole_json, nullptr);
}

TEST(WholeJsonTest, OtherKindsHaveNoPlaceForIt) {
  const auto list =
      FromJson<ObjectList<Namespace>>(R"({"items":[{"metadata":{}}]})", true);
  EXPECT_EQ(list.items.size(), 1);
}

TEST(WholeJsonTest, AnObjectMayHaveNoMetadata) {
  EXPECT_EQ(KeptOf<Pod>("{}"), "{}");
  EXPECT_EQ(KeptOf<Node>(R"({"metadata":{}})"), R"({"metadata":{}})");
  EXPECT_EQ(KeptOf<Node>(R"({"metadata":null})"), R"({"metadata":null})");
}

TEST(WholeJsonTest, AMalformedObjectKeepsNothing) {
  const auto list = FromJson<ObjectList<Pod>>(
      R"({"items":[{"metadata":{"name":"bad"},"spec":7},7,{"metadata":[]},)"
      R"({"metadata":{"name":"good"}}]})",
      true);
  ASSERT_EQ(list.items.size(), 1);
  EXPECT_EQ(*list.items[0]->whole_json, R"({"metadata":{"name":"good"}})");
  ASSERT_EQ(list.malformed.size(), 3);
  EXPECT_EQ(list.malformed[0].name, "bad");
  EXPECT_EQ(KeptOfEvent<Pod>("ADDED", R"({"spec":7})"), "no object");
  EXPECT_EQ(KeptOfEvent<Pod>("BOOKMARK", "{}"), "no object");
}

TEST(WholeJsonTest, CopiesShareTheText) {
  const auto list = FromJson<ObjectList<Pod>>(R"({"items":[{}]})", true);
  const Pod copy = *list.items[0];
  EXPECT_EQ(copy.whole_json, list.items[0]->whole_json);
}

// Writing uses the fields of the type.
TEST(WholeJsonTest, ToJsonIgnoresIt) {
  Pod pod = *FromJson<ObjectList<Pod>>(
                 R"({"items":[{"metadata":{"name":"a"},"later":1}]})", true)
                 .items[0];
  pod.metadata.name = "b";
  EXPECT_EQ(ToJson(pod),
            R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"b"}})");
}

}  // namespace
}  // namespace minisched
