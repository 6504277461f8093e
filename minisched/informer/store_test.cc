#include "minisched/informer/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "minisched/api/node.h"
#include "minisched/informer/informer_testing.h"

namespace minisched {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Pods = std::vector<std::shared_ptr<const Pod>>;

std::vector<std::string> Names(const Pods& pods) {
  std::vector<std::string> names;
  for (const auto& pod : pods) {
    names.push_back(pod->metadata.name + "@" + pod->metadata.resource_version);
  }
  return names;
}

// "+web@1", "web@1>2", "-web@2".
std::vector<std::string> Describe(const std::vector<Change<Pod>>& changes) {
  std::vector<std::string> lines;
  for (const auto& [old, now] : changes) {
    const auto& metadata = (now ? now : old)->metadata;
    std::string line = metadata.name + "@";
    if (old) line += old->metadata.resource_version;
    if (old && now) line += ">";
    if (now) line += now->metadata.resource_version;
    lines.push_back((old && now ? "" : now ? "+" : "-") + line);
  }
  return lines;
}

std::shared_ptr<const Pod> Reborn(const std::string& name, int version) {
  Pod pod = *MakePod(name, version);
  pod.metadata.uid = "another";
  return std::make_shared<const Pod>(pod);
}

ObjectList<Pod> List(Pods items, const std::vector<std::string>& malformed) {
  ObjectList<Pod> list;
  list.items = std::move(items);
  for (const auto& name : malformed) {
    list.malformed.push_back({.namespace_name = "ns", .name = name});
  }
  return list;
}

TEST(StoreTest, SetsAndDeletes) {
  Store<Pod> store;
  EXPECT_THAT(Describe(store.Set(MakePod("b", 1))), ElementsAre("+b@1"));
  EXPECT_THAT(Describe(store.Set(MakePod("a", 2))), ElementsAre("+a@2"));
  EXPECT_THAT(Names(store.List()), ElementsAre("a@2", "b@1"));
  EXPECT_EQ(store.Get("ns", "a")->metadata.resource_version, "2");
  EXPECT_EQ(store.Get("other", "a"), nullptr);
  EXPECT_EQ(store.Get("", "a"), nullptr);

  EXPECT_THAT(Describe(store.Set(MakePod("b", 3))), ElementsAre("b@1>3"));
  EXPECT_THAT(store.Set(MakePod("b", 3)), IsEmpty());
  EXPECT_EQ(store.List().size(), 2);

  EXPECT_THAT(Describe(store.Delete(MakePod("b", 4))), ElementsAre("-b@4"));
  EXPECT_THAT(store.Delete(MakePod("b", 4)), IsEmpty());
  EXPECT_THAT(Describe(store.Delete("ns", "a")), ElementsAre("-a@2"));
  EXPECT_THAT(store.Delete("ns", "a"), IsEmpty());
  EXPECT_THAT(store.List(), IsEmpty());
}

TEST(StoreTest, ListsTheObjectsOfANamespace) {
  Store<Pod> store;
  for (const char* ns : {"shop", "sho", "shop-2", "t"}) {
    Pod pod = *MakePod("a", 1);
    pod.metadata.namespace_name = ns;
    store.Set(std::make_shared<const Pod>(pod));
    pod.metadata.name = "b";
    store.Set(std::make_shared<const Pod>(pod));
  }
  std::vector<std::string> names;
  for (const auto& pod : store.List("shop")) {
    names.push_back(ObjectName(pod->metadata));
  }
  EXPECT_THAT(names, ElementsAre("shop/a", "shop/b"));
  EXPECT_THAT(store.List("none"), IsEmpty());
}

TEST(StoreTest, StoresObjectsWithoutNamespace) {
  Store<Node> store;
  auto node = std::make_shared<Node>();
  node->metadata.name = "node-1";
  store.Set(node);
  EXPECT_EQ(store.Get("", "node-1"), node);
}

TEST(StoreTest, AnotherUidIsAnotherObject) {
  Store<Pod> store;
  store.Set(MakePod("a", 1));
  EXPECT_THAT(Describe(store.Set(Reborn("a", 2))), ElementsAre("-a@1", "+a@2"));
  // The deleted pod has the first uid, but the pod in the store is gone too.
  EXPECT_THAT(Describe(store.Delete(MakePod("a", 3))), ElementsAre("-a@2"));
}

TEST(StoreTest, ReplaceReturnsTheDifference) {
  Store<Pod> store;
  for (const char* name : {"changed", "gone", "reborn", "same"}) {
    store.Set(MakePod(name, 1));
  }
  EXPECT_THAT(
      Describe(store.Replace(List({MakePod("changed", 5), MakePod("new", 6),
                                   Reborn("reborn", 7), MakePod("same", 1)},
                                  {}))),
      ElementsAre("-gone@1", "changed@1>5", "+new@6", "-reborn@1",
                  "+reborn@7"));
  EXPECT_THAT(Names(store.List()),
              ElementsAre("changed@5", "new@6", "reborn@7", "same@1"));
  EXPECT_EQ(store.Replace(List({}, {})).size(), 4);
  EXPECT_THAT(store.List(), IsEmpty());
}

TEST(StoreTest, ReplaceKeepsMalformedObjects) {
  Store<Pod> store;
  store.Set(MakePod("a", 1));
  store.Set(MakePod("b", 1));
  EXPECT_THAT(Describe(store.Replace(List({}, {"a", "unknown"}))),
              ElementsAre("-b@1"));
  EXPECT_THAT(Names(store.List()), ElementsAre("a@1"));
}

}  // namespace
}  // namespace minisched
