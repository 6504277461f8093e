#include "lab/apiserver/store.h"

#include <gmock/gmock.h>

namespace minisched::apiserver {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;
using ::testing::SizeIs;

Json NewObject(const std::string& name, int value = 0) {
  return {{"metadata", {{"namespace", "default"}, {"name", name}}},
          {"value", value}};
}

Store::Key Key(const std::string& name) { return {"default", name}; }

std::vector<std::string> Names(const Store::Collection& collection) {
  std::vector<std::string> names;
  for (const auto& [key, object] : collection) names.push_back(key.second);
  return names;
}

TEST(StoreTest, EachWriteGetsTheNextVersion) {
  Store store;
  const auto first = store.Put("pods", NewObject("a"));
  const auto second = store.Put("nodes", NewObject("b"));
  EXPECT_EQ((*first)["metadata"]["resourceVersion"], "2");
  EXPECT_EQ((*second)["metadata"]["resourceVersion"], "3");
  EXPECT_EQ(
      (*store.Remove("pods", NewObject("a")))["metadata"]["resourceVersion"],
      "4");
  EXPECT_EQ(store.version(), 4U);
}

TEST(StoreTest, FindsOnlyStoredObjects) {
  Store store;
  store.Put("pods", NewObject("a"));
  EXPECT_NE(store.Find("pods", Key("a")), nullptr);
  EXPECT_EQ(store.Find("pods", Key("b")), nullptr);
  EXPECT_EQ(store.Find("nodes", Key("a")), nullptr);
  store.Remove("pods", NewObject("a"));
  EXPECT_EQ(store.Find("pods", Key("a")), nullptr);
}

TEST(StoreTest, ReturnsACollectionAtAnEarlierVersion) {
  Store store;
  store.Put("pods", NewObject("a", 1));
  store.Put("pods", NewObject("b", 1));
  const auto version = store.version();
  store.Put("pods", NewObject("a", 2));
  store.Remove("pods", NewObject("b"));
  store.Put("pods", NewObject("c"));
  const auto then = store.AllAt("pods", version);
  ASSERT_TRUE(then);
  EXPECT_THAT(Names(*then), ElementsAre("a", "b"));
  EXPECT_EQ((*then->at(Key("a")))["value"], 1);
  EXPECT_THAT(Names(store.All("pods")), ElementsAre("a", "c"));
}

TEST(StoreTest, KeepsOnlyTheLastChanges) {
  Store store(2);
  for (const char* name : {"a", "b", "c", "d"}) {
    store.Put("pods", NewObject(name));
  }
  const auto now = store.version();
  EXPECT_EQ(store.Since("pods", now - 3), std::nullopt);
  EXPECT_THAT(store.Since("pods", now - 2), Optional(SizeIs(2)));
  EXPECT_EQ(store.AllAt("pods", now - 3), std::nullopt);
  EXPECT_THAT(store.AllAt("pods", now - 2), Optional(SizeIs(2)));
}

TEST(StoreTest, ReturnsNothingForAFutureVersion) {
  Store store;
  EXPECT_EQ(store.Since("pods", store.version() + 1), std::nullopt);
  store.Put("pods", NewObject("a"));
  EXPECT_EQ(store.Since("pods", store.version() + 1), std::nullopt);
  EXPECT_EQ(store.AllAt("pods", store.version() + 1), std::nullopt);
}

TEST(StoreTest, CompactionDropsTheHistory) {
  Store store;
  store.Put("pods", NewObject("a"));
  const auto before = store.version();
  store.Put("pods", NewObject("b"));
  store.Compact();
  EXPECT_EQ(store.Since("pods", before), std::nullopt);
  EXPECT_THAT(store.Since("pods", store.version()), Optional(SizeIs(0)));
}

TEST(StoreTest, SubscribersGetTheChangesOfTheirCollection) {
  Store store;
  std::vector<std::string> seen;
  const auto note = [&](const std::string& collection, const Event& event) {
    seen.push_back(collection + std::to_string(static_cast<int>(event.type)));
  };
  auto pods = store.Subscribe("pods", note);
  store.Put("pods", NewObject("a"));
  store.Put("nodes", NewObject("n"));
  store.Put("pods", NewObject("a", 2));
  store.Remove("pods", NewObject("a"));
  pods.reset();
  store.Put("pods", NewObject("b"));
  EXPECT_THAT(seen, ElementsAre("pods0", "pods1", "pods2"));
  const auto all = store.Subscribe("", note);
  store.Put("nodes", NewObject("m"));
  EXPECT_EQ(seen.back(), "nodes0");
}

}  // namespace
}  // namespace minisched::apiserver
