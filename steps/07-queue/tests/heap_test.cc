#include "queue/heap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

QueuedPodInfo HeapPod(const std::string& uid, int priority = 0) {
  auto pod = std::make_shared<Pod>();
  pod->metadata.uid = uid;
  pod->spec.priority = priority;
  return {.pod = std::move(pod)};
}

// A heap with the highest priority first.
class HeapTest : public ::testing::Test {
 protected:
  // Pops all pods and returns their uids.
  std::vector<std::string> PopAll() {
    std::vector<std::string> uids;
    while (!heap_.empty()) uids.push_back(heap_.Pop().pod->metadata.uid);
    return uids;
  }

  Heap heap_{[](const QueuedPodInfo& a, const QueuedPodInfo& b) {
    return a.pod->spec.priority > b.pod->spec.priority;
  }};
};

TEST_F(HeapTest, PopsInOrder) {
  heap_.Add(HeapPod("low", 1));
  heap_.Add(HeapPod("high", 3));
  heap_.Add(HeapPod("middle", 2));
  EXPECT_THAT(PopAll(), ElementsAre("high", "middle", "low"));
}

TEST_F(HeapTest, PopsEqualPodsInTheOrderOfAdding) {
  for (const char* uid : {"b", "c", "a"}) heap_.Add(HeapPod(uid));
  EXPECT_THAT(PopAll(), ElementsAre("b", "c", "a"));
}

TEST_F(HeapTest, PeekReturnsTheFirstPodAndKeepsIt) {
  EXPECT_EQ(heap_.Peek(), nullptr);
  heap_.Add(HeapPod("low", 1));
  heap_.Add(HeapPod("high", 2));
  ASSERT_NE(heap_.Peek(), nullptr);
  EXPECT_EQ(heap_.Peek()->pod->metadata.uid, "high");
  EXPECT_THAT(PopAll(), ElementsAre("high", "low"));
}

TEST_F(HeapTest, UpdateKeepsThePlaceAmongEqualPods) {
  for (const char* uid : {"a", "b", "c"}) heap_.Add(HeapPod(uid));
  for (const char* uid : {"c", "a", "b", "a"}) {
    EXPECT_TRUE(heap_.Update(HeapPod(uid).pod));
  }
  EXPECT_THAT(PopAll(), ElementsAre("a", "b", "c"));
}

TEST_F(HeapTest, UpdateMovesAPodWhoseOrderChanges) {
  for (const char* uid : {"a", "b", "c"}) heap_.Add(HeapPod(uid));
  heap_.Update(HeapPod("a", -1).pod);
  heap_.Update(HeapPod("c", 1).pod);
  EXPECT_THAT(PopAll(), ElementsAre("c", "b", "a"));
}

TEST_F(HeapTest, UpdateReplacesOnlyTheState) {
  QueuedPodInfo info = HeapPod("a");
  info.attempts = 3;
  heap_.Add(info);
  const PodPtr newer = HeapPod("a").pod;
  EXPECT_TRUE(heap_.Update(newer));
  const QueuedPodInfo popped = heap_.Pop();
  EXPECT_EQ(popped.pod, newer);
  EXPECT_EQ(popped.attempts, 3);
}

TEST_F(HeapTest, UpdateDoesNotAddAPod) {
  EXPECT_FALSE(heap_.Update(HeapPod("a").pod));
  EXPECT_THAT(PopAll(), IsEmpty());
}

TEST_F(HeapTest, RemovesAmongEqualPodsByUid) {
  for (const char* uid : {"a", "b", "c"}) heap_.Add(HeapPod(uid));
  const std::optional<QueuedPodInfo> removed = heap_.Remove("b");
  ASSERT_TRUE(removed);
  EXPECT_EQ(removed->pod->metadata.uid, "b");
  EXPECT_THAT(PopAll(), ElementsAre("a", "c"));
}

TEST_F(HeapTest, ForgetsRemovedAndPoppedPods) {
  heap_.Add(HeapPod("removed"));
  heap_.Add(HeapPod("popped"));
  EXPECT_TRUE(heap_.Has("removed"));
  heap_.Remove("removed");
  heap_.Pop();
  EXPECT_TRUE(heap_.empty());
  for (const char* uid : {"removed", "popped"}) {
    EXPECT_FALSE(heap_.Has(uid));
    EXPECT_FALSE(heap_.Update(HeapPod(uid).pod));
    EXPECT_FALSE(heap_.Remove(uid));
  }
}

TEST_F(HeapTest, AddsARemovedPodBehindItsEquals) {
  for (const char* uid : {"a", "b"}) heap_.Add(HeapPod(uid));
  heap_.Add(*heap_.Remove("a"));
  EXPECT_THAT(PopAll(), ElementsAre("b", "a"));
}

}  // namespace
}  // namespace minisched
