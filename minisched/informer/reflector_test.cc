#include "minisched/informer/reflector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "minisched/base/fake_clock.h"
#include "minisched/client/client.h"
#include "minisched/informer/informer_testing.h"
#include "minisched/informer/reflector_testing.h"
#include "minisched/informer/shared_informer.h"

namespace minisched {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// A store with a bug: its Apply() throws.
class ThrowingStore final : public ReflectorStore<Pod> {
 public:
  void Replace(const ObjectList<Pod>&) override {}
  void Apply(const WatchEvent<Pod>&) override {
    throw std::runtime_error("a bug");
  }
  void Delete(const MalformedObject&) override {}
};

TEST_F(ReflectorTest, ListsThenWatches) {
  Start("spec.nodeName=");
  auto [request, reply] = api_.Take();
  EXPECT_EQ(request.target,
            "/api/v1/pods?fieldSelector=spec.nodeName%3D&limit=500");
  EXPECT_FALSE(informer_->WaitForCacheSync(Stopped()));
  reply.Send(200, ListJson(10, {PodJson("a", 3), PodJson("b", 5)}));

  auto watch = api_.Take();
  EXPECT_THAT(
      watch.request.target,
      AllOf(HasSubstr("/api/v1/pods?fieldSelector=spec.nodeName%3D&watch=true"),
            HasSubstr("timeoutSeconds="), HasSubstr("allowWatchBookmarks=true"),
            HasSubstr("resourceVersion=10")));
  EXPECT_TRUE(informer_->WaitForCacheSync(Stopped()));
  watch.reply.Start();
  watch.reply.Chunk(EventJson("ADDED", PodJson("c", 11)));
  watch.reply.Chunk(EventJson("MODIFIED", PodJson("a", 12)));
  watch.reply.Chunk(EventJson("DELETED", PodJson("b", 13)));
  EXPECT_THAT(changes_.Await(5),
              ElementsAre("+add ns/a@3", "+add ns/b@5", "add ns/c@11",
                          "update ns/a@3@12", "delete ns/b@13"));
  EXPECT_EQ(informer_->store().List().size(), 2);
}

TEST_F(ReflectorTest, WatchesAgainFromTheLastEventOrBookmark) {
  Start();
  AnswerList(ListJson(10, {}));
  ServerReply watch = StartWatch(10);
  clock_.Advance(minutes(5));
  watch.Chunk(EventJson("ADDED", PodJson("a", 11)));
  watch.End();
  watch = StartWatch(11);
  clock_.Advance(minutes(5));
  watch.Chunk(BookmarkJson(50));
  watch.End();
  // A watch without events.
  watch = StartWatch(50);
  clock_.Advance(minutes(5));
  watch.End();
  watch = StartWatch(50);
  watch.Chunk(EventJson("ADDED", PodJson("z", 51)));
  EXPECT_THAT(changes_.Await(2), ElementsAre("add ns/a@11", "add ns/z@51"));
}

TEST_F(ReflectorTest, IgnoresEmptyVersionsOfEvents) {
  Start();
  AnswerList(ListJson(10, {}));
  ServerReply watch = StartWatch(10);
  watch.Chunk(EventJson("ADDED", PodJson("a", 11)));
  watch.Chunk(EventJson(
      "ADDED", R"({"metadata":{"namespace":"ns","name":"b","uid":"b"}})"));
  EXPECT_THAT(changes_.Await(2), ElementsAre("add ns/a@11", "add ns/b@"));
  clock_.Advance(minutes(5));
  watch.End();
  StartWatch(11);
}

TEST_F(ReflectorTest, WatchesAgainAfterALostConnection) {
  Start();
  AnswerList(ListJson(10, {}));
  ServerReply watch = StartWatch(10);
  watch.Chunk(EventJson("ADDED", PodJson("a", 11)));
  changes_.Await(1);
  clock_.Advance(seconds(1));
  watch.Reset();
  watch = StartWatch(11);
  watch.Chunk(EventJson("DELETED", PodJson("a", 12)));
  EXPECT_THAT(changes_.Await(2), ElementsAre("add ns/a@11", "delete ns/a@12"));
}

TEST_F(ReflectorTest, WatchesAgainAfterASilentWatch) {
  RestConfig config = api_.config();
  config.watch_idle_timeout = seconds(2);
  Client client(config, clock_);
  SharedInformer<Pod> informer(client, {.clock = &clock_});
  informer.AddEventHandler(changes_.Handler<Pod>());
  informer.Start({});
  AnswerList(ListJson(10, {}));
  ServerReply watch = StartWatch(10);
  watch.Chunk(EventJson("ADDED", PodJson("a", 11)));
  EXPECT_THAT(changes_.Await(1), ElementsAre("add ns/a@11"));
  ExpectWait(milliseconds(800));
  StartWatch(11);
}

TEST_F(ReflectorTest, IgnoresHalfAnEvent) {
  Start();
  AnswerList(ListJson(10, {}));
  ServerReply watch = StartWatch(10);
  watch.Chunk(EventJson("ADDED", PodJson("a", 11)) + R"({"type":"ADDED","obj)");
  changes_.Await(1);
  clock_.Advance(seconds(1));
  watch.Reset();
  StartWatch(11);
}

// The version is too old: the server answers 410 (parameter false) or sends it
// as an ERROR event (true).
class GoneTest : public ReflectorTest,
                 public testing::WithParamInterface<bool> {};

TEST_P(GoneTest, ListsAgainAndAppliesTheDifference) {
  Start();
  AnswerList(ListJson(10, {PodJson("changed", 1), PodJson("gone", 2),
                           PodJson("same", 3), PodJson("reborn", 4)}));
  const std::string gone = StatusJson(410, "too old resource version");
  ServerReply watch = TakeWatch(10);
  if (GetParam()) {
    watch.Start();
    watch.Chunk(EventJson("ERROR", gone));
    watch.End();
  } else {
    watch.Send(410, gone);
  }
  ExpectWait(milliseconds(800));
  AnswerList(ListJson(
      20, {PodJson("changed", 11), PodJson("new", 12), PodJson("same", 3),
           R"({"metadata":{"namespace":"ns","name":"reborn","uid":"another",)"
           R"("resourceVersion":"13"}})"}));
  StartWatch(20);
  const auto changes = changes_.Await(9);
  EXPECT_THAT(
      std::vector(changes.begin() + 4, changes.end()),
      ElementsAre("delete ns/gone@2", "update ns/changed@1@11", "add ns/new@12",
                  "delete ns/reborn@4", "add ns/reborn@13"));
}

INSTANTIATE_TEST_SUITE_P(Gone, GoneTest, testing::Bool());

TEST_F(ReflectorTest, WaitsLongerAfterEachFailedList) {
  Start();
  milliseconds least(800);
  for (int i = 0; i < 8; ++i) {
    api_.Take().reply.Send(500, StatusJson(500, "out of order"));
    ExpectWait(least);
    least = std::min(2 * least, milliseconds(30'000));
  }
  EXPECT_FALSE(informer_->WaitForCacheSync(Stopped()));
  AnswerList(ListJson(10, {PodJson("a", 3)}));
  StartWatch(10);
  EXPECT_TRUE(informer_->WaitForCacheSync(Stopped()));
}

TEST_F(ReflectorTest, ResetsTheWaitAfterTwoMinutesWithoutFailure) {
  Start();
  for (const int least : {800, 1600, 3200}) {
    api_.Take().reply.Send(403, StatusJson(403, "forbidden"));
    ExpectWait(milliseconds(least));
  }
  AnswerList(ListJson(10, {}));
  ServerReply watch = TakeWatch(10);
  clock_.Advance(minutes(2));
  watch.Send(500, StatusJson(500, "out of order"));
  ExpectWait(milliseconds(800));
}

TEST_F(ReflectorTest, DoesNotListAgainAfter429) {
  Start();
  AnswerList(ListJson(10, {}));
  TakeWatch(10).Send(429, StatusJson(429, "too many requests"));
  ExpectWait(milliseconds(800));
  StartWatch(10);
}

TEST_F(ReflectorTest, ListsAgainAfterAFailedWatchRequest) {
  Start();
  AnswerList(ListJson(10, {}));
  TakeWatch(10).Send(500, StatusJson(500, "out of order"));
  ExpectWait(milliseconds(800));
  AnswerList(ListJson(11, {}));
  StartWatch(11);
}

TEST_F(ReflectorTest, ListsAgainAfterGarbage) {
  Start();
  AnswerList(ListJson(10, {PodJson("a", 1)}));
  ServerReply watch = StartWatch(10);
  watch.Chunk("<html>\n");
  ExpectWait(milliseconds(800));
  AnswerList("<html>");
  ExpectWait(milliseconds(1600));
  AnswerList(R"({"items":[]})");  // without a version
  ExpectWait(milliseconds(3200));
  AnswerList(ListJson(12, {PodJson("a", 1)}));
  watch = StartWatch(12);
  watch.Chunk(EventJson("ADDED", PodJson("z", 13)));
  EXPECT_THAT(changes_.Await(2), ElementsAre("+add ns/a@1", "add ns/z@13"));
}

// We can't tell which event was lost, even if the watch was long.
TEST_F(ReflectorTest, ListsAgainAfterGarbageInALongWatch) {
  Start();
  AnswerList(ListJson(10, {}));
  ServerReply watch = StartWatch(10);
  watch.Chunk(EventJson("ADDED", PodJson("a", 11)));
  EXPECT_THAT(changes_.Await(1), ElementsAre("add ns/a@11"));
  clock_.Advance(minutes(5));
  watch.Chunk("<html>\n");
  ExpectWait(milliseconds(800));
  AnswerList(ListJson(12, {PodJson("a", 11)}));
  StartWatch(12);
}

TEST_F(ReflectorTest, ListsAgainAfterAnExceptionOfAnotherKind) {
  ThrowingStore store;
  Reflector<Pod> reflector(client_, store, "", clock_);
  const std::jthread thread(
      [&reflector](const std::stop_token& stop) { reflector.Run(stop); });
  AnswerList(ListJson(10, {}));
  ServerReply watch = StartWatch(10);
  watch.Chunk(EventJson("ADDED", PodJson("a", 11)));
  ExpectWait(milliseconds(800));
  AnswerList(ListJson(13, {PodJson("a", 11)}));
  StartWatch(13);
}

TEST_F(ReflectorTest, WaitsAfterVeryShortWatches) {
  Start();
  for (const int least : {800, 1600, 3200, 6400}) {
    AnswerList(ListJson(10, {}));
    StartWatch(10).End();
    ExpectWait(milliseconds(least));
  }
  // With an event there is no new list, but still a wait.
  AnswerList(ListJson(10, {}));
  ServerReply watch = StartWatch(10);
  watch.Chunk(EventJson("ADDED", PodJson("a", 11)));
  watch.End();
  ExpectWait(milliseconds(12'800));
  StartWatch(11);
}

TEST_F(ReflectorTest, TriesAgainWhileTheServerIsUnreachable) {
  RestConfig config = api_.config();
  config.server = "http://127.0.0.1:1";  // nothing listens there
  Client client(config, clock_);
  SharedInformer<Pod> informer(client, {.clock = &clock_});
  informer.Start({});
  ExpectWait(milliseconds(800));
  ExpectWait(milliseconds(1600));
  EXPECT_FALSE(informer.WaitForCacheSync(Stopped()));
}

TEST_F(ReflectorTest, StopsWhileItLists) {
  Start();
  api_.Take();
  stop_.request_stop();
  informer_.reset();
}

TEST_F(ReflectorTest, StopsWhileItWatches) {
  Start();
  AnswerList(ListJson(10, {}));
  StartWatch(10);
  stop_.request_stop();
  informer_.reset();
}

TEST_F(ReflectorTest, StopsWhileItWaits) {
  Start();
  api_.Take().reply.Send(500, "");
  clock_.AwaitSleepers(1);
  stop_.request_stop();
  informer_.reset();
}

TEST_F(ReflectorTest, StopsWhenItIsDestroyed) {
  Start();
  AnswerList(ListJson(10, {}));
  StartWatch(10);
  informer_.reset();
}

}  // namespace
}  // namespace minisched
