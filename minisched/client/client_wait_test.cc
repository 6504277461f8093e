// Tests what a Client reports that a request waits for.

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <string>

#include "minisched/base/fake_clock.h"
#include "minisched/client/client.h"
#include "minisched/client/client_testing.h"
#include "minisched/client/exec_testing.h"
#include "testing/http_server.h"

namespace minisched {
namespace {

class ClientWaitTest : public ExecTest {
 protected:
  // Asks for the server's version, blocks until the client reports `what`, and
  // stops the request.
  void ExpectWaitsFor(Client& client, const std::string& what) {
    ExpectStopsPromptly(
        [&](const std::stop_token& stop) {
          client.ServerVersion(stop, [this](const std::string& next) {
            const std::lock_guard lock(mu_);
            last_ = next;
            changed_.notify_all();
          });
        },
        [&] {
          std::unique_lock lock(mu_);
          EXPECT_TRUE(changed_.wait_for(lock, kPrompt, [&] {
            return last_ == what;
          })) << last_;
        });
  }

  std::mutex mu_;
  std::condition_variable changed_;
  std::string last_;
};

TEST_F(ClientWaitTest, ReportsTheTlsHandshake) {
  HttpServer server({}, {.silent = true});
  Client client(
      ConfigFor("https://127.0.0.1:" + std::to_string(server.port())));
  ExpectWaitsFor(client, "a connection");
}

TEST_F(ClientWaitTest, ReportsTheResponse) {
  HttpServer server([](const ServerRequest&, ServerReply) {});
  Client client(ConfigFor(server.url()));
  ExpectWaitsFor(client, "the response");
}

TEST_F(ClientWaitTest, ReportsTheRestOfTheResponse) {
  HttpServer server([](const ServerRequest&, ServerReply reply) {
    reply.Start();
    reply.Chunk("{");
  });
  Client client(ConfigFor(server.url()));
  ExpectWaitsFor(client, "the response");
}

TEST_F(ClientWaitTest, ReportsTheProgramThatPrintsCredentials) {
  RestConfig config = ConfigFor("http://127.0.0.1:1");
  config.exec = Exec(AwaitGate() + PrintToken());
  Client client(config);
  ExpectWaitsFor(client, "FILE: user \"u\": exec command \"sh\"");
}

TEST_F(ClientWaitTest, ReportsTheNextAttempt) {
  HttpServer server([](const ServerRequest&, ServerReply reply) {
    reply.Send(503, "", {{"Retry-After", "7"}});
  });
  FakeClock clock;
  Client client(ConfigFor(server.url()), clock);
  ExpectWaitsFor(client,
                 "the server answered 503 with Retry-After 7 s; sending it "
                 "again in 7 s (1 of 10)");
}

}  // namespace
}  // namespace minisched
