#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "minisched/informer/informer_testing.h"
#include "minisched/informer/reflector.h"
#include "minisched/informer/reflector_testing.h"

namespace minisched {
namespace {

using testing::ElementsAre;

TEST_F(ReflectorTest, LogsEachMalformedVersionOnceAndContinues) {
  Start();
  const std::string list =
      ListJson(10, {BrokenPodJson("bad", 1), PodJson("good", 2)});
  AnswerList(list);
  ServerReply watch = StartWatch(10);
  watch.Chunk(EventJson("ADDED", BrokenPodJson("worse", 11)));
  watch.Chunk(EventJson("ADDED", PodJson("better", 12)));
  EXPECT_THAT(changes_.Await(2),
              ElementsAre("+add ns/good@2", "add ns/better@12"));
  EXPECT_THAT(warnings_.lines(),
              ElementsAre("ignoring Pod ns/bad: spec.priority: expected a "
                          "whole number, found a JSON string",
                          "ignoring Pod ns/worse: spec.priority: expected a "
                          "whole number, found a JSON string"));

  // The same object in the next list, then another malformed version, then a
  // readable one.
  watch.Chunk(EventJson("ERROR", StatusJson(410, "gone")));
  SkipWait();
  AnswerList(list);
  watch = StartWatch(10);
  EXPECT_EQ(warnings_.lines().size(), 2);
  watch.Chunk(EventJson("MODIFIED", BrokenPodJson("bad", 13)));
  EXPECT_EQ(warnings_.Await(3).size(), 3);
  watch.Chunk(EventJson("MODIFIED", PodJson("bad", 14)));
  EXPECT_THAT(changes_.Await(4),
              ElementsAre("+add ns/good@2", "add ns/better@12",
                          "delete ns/better@12", "add ns/bad@14"));
}

TEST_F(ReflectorTest, KeepsAKnownObjectThatBecomesMalformed) {
  Start();
  AnswerList(ListJson(10, {PodJson("a", 1), PodJson("b", 2)}));
  ServerReply watch = StartWatch(10);
  watch.Chunk(EventJson("MODIFIED", BrokenPodJson("a", 11)));
  watch.Chunk(EventJson("ERROR", StatusJson(410, "gone")));
  SkipWait();
  AnswerList(ListJson(20, {BrokenPodJson("a", 11), BrokenPodJson("b", 12)}));
  watch = StartWatch(20);
  watch.Chunk(EventJson("DELETED", BrokenPodJson("b", 21)));
  EXPECT_THAT(changes_.Await(3),
              ElementsAre("+add ns/a@1", "+add ns/b@2", "delete ns/b@2"));
  EXPECT_EQ(warnings_.lines().size(), 2);
  EXPECT_EQ(informer_->store().Get("ns", "a")->metadata.resource_version, "1");
}

// The version of a malformed object is remembered only as long as the object is
// malformed, or else the memory would grow. A server that was restored from a
// backup can send the same version again.
TEST_F(ReflectorTest, ForgetsMalformedObjectsThatBecomeReadableOrAreDeleted) {
  Start();
  const std::string list =
      ListJson(10, {BrokenPodJson("a", 1), BrokenPodJson("b", 2),
                    BrokenPodJson("c", 3), PodJson("d", 4)});
  AnswerList(list);
  ServerReply watch = StartWatch(10);
  const auto list_again = [&](const std::string& next) {
    watch.Chunk(EventJson("ERROR", StatusJson(410, "gone")));
    SkipWait();
    AnswerList(next);
    watch = StartWatch(10);
  };
  EXPECT_EQ(warnings_.lines().size(), 3);
  list_again(list);
  EXPECT_EQ(warnings_.lines().size(), 3);

  watch.Chunk(EventJson("MODIFIED", PodJson("a", 11)));
  watch.Chunk(EventJson("DELETED", BrokenPodJson("b", 12)));
  watch.Chunk(EventJson("DELETED", PodJson("c", 13)));
  list_again(list);
  EXPECT_EQ(warnings_.lines().size(), 6);

  list_again(ListJson(10, {PodJson("a", 21)}));
  list_again(list);
  EXPECT_EQ(warnings_.lines().size(), 9);
}

}  // namespace
}  // namespace minisched
