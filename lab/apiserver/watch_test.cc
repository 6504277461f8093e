#include "lab/apiserver/watch.h"

#include <gmock/gmock.h>

#include <sstream>

#include "lab/apiserver/controllers/fake_loop_testing.h"

namespace minisched::apiserver {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class WatchTest : public ::testing::Test {
 protected:
  void Put(const std::string& name, const std::string& app = "web") {
    store_.Put("pods", {{"apiVersion", "v1"},
                        {"kind", "Pod"},
                        {"metadata",
                         {{"namespace", "default"},
                          {"name", name},
                          {"labels", {{"app", app}}}}}});
  }

  void Start(const std::string& query) {
    Request request;
    ASSERT_TRUE(ParseTarget("/?watch=true&" + query, request));
    watch_.emplace(registry_, GetResource("", "pods"),
                   ListOptions::Parse(request, GetResource("", "pods"), "", ""),
                   Encoding::Negotiate(request));
  }

  // Reads the pending events. Returns "ADDED a" for each, or for an error
  // "ERROR" and its message.
  std::vector<std::string> Read() {
    std::string text;
    open_ = watch_->Read(text);
    std::vector<std::string> events;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      const Json event = Json::parse(line);
      const Json& object = event["object"];
      events.push_back(GetString(event, "type") + " " +
                       (GetString(object, "kind") == "Status"
                            ? GetString(object, "message")
                            : NameOf(object)));
    }
    return events;
  }

  FakeLoop loop_;
  Store store_{5};
  Registry registry_{store_, loop_};
  std::optional<Watch> watch_;
  bool open_ = true;
};

TEST_F(WatchTest, AnExpiredVersionSendsAnErrorAndEndsTheWatch) {
  Put("a");
  const auto version = store_.version();
  for (int i = 0; i < 6; ++i) Put("b");
  Start("resourceVersion=" + std::to_string(version));
  EXPECT_THAT(Read(),
              ElementsAre(StartsWith("ERROR too old resource version")));
  EXPECT_FALSE(open_);
}

// A version in the future is from an earlier run of the server.
TEST_F(WatchTest, AFutureVersionSendsAnErrorAndEndsTheWatch) {
  Put("a");
  for (const char* query :
       {"", "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"}) {
    Start("resourceVersion=9" + std::string(query));
    EXPECT_THAT(Read(), ElementsAre("ERROR too large resource version: 9 (2)"));
    EXPECT_FALSE(open_);
  }
}

TEST_F(WatchTest, AcceptsTheLargestTimeout) {
  Start("timeoutSeconds=9223372036854775807");
  loop_.Advance(std::chrono::hours(1));
  EXPECT_THAT(Read(), IsEmpty());
  EXPECT_TRUE(open_);
}

TEST_F(WatchTest, BookmarksComeEveryMinuteAndAtTheEnd) {
  Start("allowWatchBookmarks=true&timeoutSeconds=90");
  EXPECT_THAT(Read(), IsEmpty());
  loop_.Advance(std::chrono::seconds(60));
  EXPECT_THAT(Read(), ElementsAre("BOOKMARK "));
  EXPECT_TRUE(open_);
  loop_.Advance(std::chrono::seconds(31));
  EXPECT_THAT(Read(), ElementsAre("BOOKMARK "));
  EXPECT_FALSE(open_);
}

TEST_F(WatchTest, WakesItsReaderForMatchingEvents) {
  Start("labelSelector=app%3Dweb");
  int woken = 0;
  watch_->on_ready = [&] { ++woken; };
  Put("a");
  EXPECT_EQ(woken, 1);
  Put("b", "db");
  EXPECT_EQ(woken, 1);
}

TEST_F(WatchTest, EndsIfTheReaderIsTooFarBehind) {
  Start("");
  for (int i = 0; i < 2001; ++i) Put("a");
  // The reader has already missed events, so it gets no later events.
  Put("b");
  EXPECT_THAT(Read(), IsEmpty());
  EXPECT_FALSE(open_);
  Put("c");
  EXPECT_THAT(Read(), IsEmpty());
  EXPECT_FALSE(open_);
}

TEST_F(WatchTest, NoEventFollowsTheErrorForAnExpiredVersion) {
  Put("a");
  const auto version = store_.version();
  store_.Compact();
  Put("b");
  store_.Compact();
  Start("resourceVersion=" + std::to_string(version));
  Put("c");
  EXPECT_THAT(Read(),
              ElementsAre(StartsWith("ERROR too old resource version")));
  EXPECT_FALSE(open_);
  Put("d");
  EXPECT_THAT(Read(), IsEmpty());
  EXPECT_FALSE(open_);
}

TEST_F(WatchTest, NoEventFollowsTheDeadline) {
  Start("timeoutSeconds=1");
  Put("a");
  loop_.Advance(std::chrono::seconds(2));
  Put("b");
  EXPECT_THAT(Read(), ElementsAre("ADDED a"));
  EXPECT_FALSE(open_);
}

TEST_F(WatchTest, CanBeDestroyedBeforeItsTimerFires) {
  int woken = 0;
  Start("timeoutSeconds=1");
  watch_->on_ready = [&] { ++woken; };
  loop_.Advance(std::chrono::seconds(2));
  EXPECT_EQ(woken, 1);

  Start("timeoutSeconds=1");
  watch_->on_ready = [&] { ++woken; };
  watch_.reset();
  loop_.Advance(std::chrono::seconds(2));
  EXPECT_EQ(woken, 1);
}

}  // namespace
}  // namespace minisched::apiserver
