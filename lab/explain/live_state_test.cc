#include "lab/explain/live_state.h"

#include <gmock/gmock.h>

#include <chrono>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "testing/http_server.h"

namespace minisched::explain {
namespace {

using ::testing::ElementsAre;

// A live page whose stream never ends, and is never quiet.
class BusyPage {
 public:
  explicit BusyPage(std::string message) : message_(std::move(message)) {}

  std::string url() const { return server_.url(); }

 private:
  void Send(const std::stop_token& stop, ServerReply reply) const {
    reply.Start();
    reply.Chunk("event: start\ndata: {\"program\": \"prog\"}\n\n");
    while (!stop.stop_requested()) {
      reply.Chunk("event: message\ndata: " + message_ + "\n\n");
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  const std::string message_;
  HttpServer server_{[this](const ServerRequest&, ServerReply reply) {
    thread_ = std::jthread(
        [this, reply](const std::stop_token& stop) { Send(stop, reply); });
  }};
  std::jthread thread_;  // ends before the server
};

TEST(LiveStateTest, ReadsUntilThePodComes) {
  BusyPage page(
      R"([{"time": "t", "pod": {"name": "default/web", "place": "bound"}}])");
  EXPECT_THAT(
      ReadLiveState(page.url(), "default/web", {}),
      ElementsAre("the running scheduler prog: default/web is bound since t"));
}

TEST(LiveStateTest, StopsWaitingForAPodThatTheSchedulerLacks) {
  BusyPage page(R"([{"time": "t", "pod": {"name": "default/other"}}])");
  EXPECT_THAT(ReadLiveState(page.url(), "default/web", {},
                            std::chrono::milliseconds(0)),
              ElementsAre("the running scheduler prog has no default/web"));
}

}  // namespace
}  // namespace minisched::explain
