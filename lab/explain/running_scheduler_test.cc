#include "lab/explain/running_scheduler.h"

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

// A scheduler that always has more records, and sends its trace as a stream
// that never ends.
class BusyScheduler {
 public:
  explicit BusyScheduler(std::string record) : record_(std::move(record)) {}

  std::string url() const { return server_.url(); }

 private:
  void Send(const std::stop_token& stop, ServerReply reply) const {
    reply.Start();
    reply.Chunk(R"({"scheduler": {"program": "prog"}})"
                "\n\n");
    while (!stop.stop_requested()) {
      reply.Chunk(record_ + "\n");
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  const std::string record_;
  HttpServer server_{[this](const ServerRequest&, ServerReply reply) {
    thread_ = std::jthread(
        [this, reply](const std::stop_token& stop) { Send(stop, reply); });
  }};
  std::jthread thread_;  // ends before the server
};

TEST(RunningSchedulerTest, ReadsUntilThePodComes) {
  BusyScheduler scheduler(
      R"({"time": "t", "pod": {"name": "default/web", "place": "bound"}})");
  EXPECT_THAT(
      AskRunningScheduler(scheduler.url(), "default/web", {}),
      ElementsAre("the running scheduler prog: default/web is bound since t"));
}

TEST(RunningSchedulerTest, StopsWaitingForAPodThatTheSchedulerLacks) {
  BusyScheduler scheduler(R"({"time": "t", "pod": {"name": "default/other"}})");
  EXPECT_THAT(AskRunningScheduler(scheduler.url(), "default/web", {},
                                  std::chrono::milliseconds(0)),
              ElementsAre("the running scheduler prog has no default/web"));
}

}  // namespace
}  // namespace minisched::explain
