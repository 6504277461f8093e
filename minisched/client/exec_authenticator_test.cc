// Tests a Client whose credentials come from a program.

#include "minisched/client/exec_authenticator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <future>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "minisched/client/client_async_testing.h"
#include "minisched/client/client_testing.h"
#include "minisched/client/exec_testing.h"
#include "testing/http_server.h"
#include "testing/pem.h"

namespace minisched {
namespace {

using namespace std::chrono_literals;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

// A server, and a client whose time stands still.
class ExecAuthenticatorTest : public ExecTest {
 protected:
  Client& Start(const std::string& script) {
    RestConfig config = ConfigFor(server_.url());
    config.exec = Exec(script);
    client_ = std::make_unique<Client>(config, clock_);
    return *client_;
  }

  // The Authorization headers that the server has received.
  std::vector<std::string> Received() const {
    std::vector<std::string> received;
    for (const ServerRequest& request : server_.requests()) {
      const auto header = request.headers.find("authorization");
      received.push_back(header == request.headers.end() ? "" : header->second);
    }
    return received;
  }

  static Outcome Call(Client& client) {
    return OutcomeOf([&] { client.ServerVersion(); });
  }

  FakeClock clock_;
  // Answers 401 to a request with this header, and to so many others.
  std::string refused_;
  std::atomic<int> refusals_ = 0;
  HttpServer server_{[this](const ServerRequest& request, ServerReply reply) {
    const auto header = request.headers.find("authorization");
    const bool is_refused =
        header != request.headers.end() && header->second == refused_;
    if (is_refused || refusals_-- > 0) return reply.Send(401, "");
    reply.Send(200, R"({"gitVersion": "v1"})");
  }};
  Ends ends_;
  std::unique_ptr<Client> client_;
};

// Tokens.

TEST_F(ExecAuthenticatorTest, SendsTheTokenOfTheFirstRun) {
  Client& client = Start(PrintToken());
  EXPECT_EQ(Runs(), 0);
  EXPECT_EQ(Call(client).kind, "ok");
  clock_.Advance(24h * 365);
  EXPECT_EQ(Call(client).kind, "ok");
  EXPECT_EQ(Runs(), 1);
  EXPECT_THAT(Received(), Each("Bearer token-1"));
}

TEST_F(ExecAuthenticatorTest, ReplacesATokenThatHasExpired) {
  Client& client =
      Start(PrintToken(R"(, "expirationTimestamp": "2026-01-01T00:10:00Z")"));
  Call(client);
  clock_.Advance(10min);
  Call(client);
  clock_.Advance(1s);
  Call(client);
  // Printed after its expiration: used for this request only.
  Call(client);
  EXPECT_THAT(Received(), ElementsAre("Bearer token-1", "Bearer token-1",
                                      "Bearer token-2", "Bearer token-3"));
}

TEST_F(ExecAuthenticatorTest, ReplacesATokenThatTheServerRefuses) {
  Client& client = Start(PrintToken());
  refusals_ = 1;
  EXPECT_EQ(Call(client).kind, "ok");
  EXPECT_EQ(Call(client).kind, "ok");
  EXPECT_THAT(Received(), ElementsAre("Bearer token-1", "Bearer token-2",
                                      "Bearer token-2"));
}

TEST_F(ExecAuthenticatorTest, TriesOnlyOneOtherTokenForARequest) {
  Client& client = Start(PrintToken());
  refusals_ = 2;
  EXPECT_EQ(Call(client).kind, "ApiError");
  refusals_ = 1;
  EXPECT_EQ(Call(client).kind, "ok");
  EXPECT_THAT(Received(), ElementsAre("Bearer token-1", "Bearer token-2",
                                      "Bearer token-2", "Bearer token-3"));
}

TEST_F(ExecAuthenticatorTest, WatchesWithTheToken) {
  Client& client = Start(PrintToken());
  refusals_ = 1;
  EXPECT_EQ(OutcomeOf([&] { client.Watch<Pod>({}); }).kind, "ok");
  EXPECT_THAT(Received(), ElementsAre("Bearer token-1", "Bearer token-2"));
}

TEST_F(ExecAuthenticatorTest, RunsNoProgramIfThereAreOtherCredentials) {
  RestConfig config = ConfigFor(server_.url());
  config.exec = Exec(PrintToken());
  Write("token", "of-a-file");
  config.bearer_token_file = Path("token");
  Client of_a_file(config);
  EXPECT_EQ(Call(of_a_file).kind, "ok");

  config.bearer_token_file.clear();
  config.bearer_token = "fixed";
  Client fixed(config);
  refusals_ = 1;
  EXPECT_EQ(Call(fixed).kind, "ApiError");
  EXPECT_THAT(Received(), ElementsAre("Bearer of-a-file", "Bearer fixed"));

  const TestCertificate pair = Issue(MakeCa("ca"), {.common_name = "u"});
  config.bearer_token.clear();
  config.client_certificate_data = pair.certificate;
  config.client_key_data = pair.key;
  Client certified(config);
  EXPECT_EQ(Call(certified).kind, "ok");
  EXPECT_EQ(Runs(), 0);
}

// Failures.

TEST_F(ExecAuthenticatorTest, FailsIfTheProgramFails) {
  Client& client = Start(R"(echo >>"$DIR/runs"; test -e "$DIR/works" || exit 3)"
                         "\n" +
                         Print(R"("token": "t")"));
  const Outcome outcome = Call(client);
  EXPECT_EQ(outcome.kind, "ConfigError");
  EXPECT_EQ(outcome.message,
            "FILE: user \"u\": exec command \"sh\" failed with exit code 3; "
            "see its messages on standard error");
  EXPECT_THAT(Received(), IsEmpty());
  // Each further request starts another run.
  EXPECT_EQ(Call(client).kind, "ConfigError");
  EXPECT_EQ(Runs(), 2);
  Write("works", "");
  EXPECT_EQ(Call(client).kind, "ok");
}

TEST_F(ExecAuthenticatorTest, FailsIfTheProgramFailsAfterARefusal) {
  Client& client = Start(R"(test ! -e "$DIR/runs" || exit 3)"
                         "\n" +
                         PrintToken());
  refusals_ = 1;
  EXPECT_THAT(Call(client).message, HasSubstr("failed with exit code 3"));
  EXPECT_THAT(Received(), ElementsAre("Bearer token-1"));
}

// Many requests.

TEST_F(ExecAuthenticatorTest, RequestsShareARun) {
  Client& client = Start(AwaitGate() + PrintToken());
  std::vector<std::future<Outcome>> blocking;
  for (int i = 0; i < 2; ++i) {
    blocking.push_back(
        std::async(std::launch::async, [&] { return Call(client); }));
  }
  for (int i = 0; i < 20; ++i) {
    client.BindAsync(BindingOf("p"), {}, ends_.Callback<void>());
  }
  std::ofstream gate = Gate();
  // The requests that wait for the program hold up no callbacks.
  std::promise<void> free;
  client.executor().Post([&] { free.set_value(); });
  EXPECT_EQ(free.get_future().wait_for(kPrompt), std::future_status::ready);
  EXPECT_THAT(ends_.Now(), IsEmpty());
  gate << "\n" << std::flush;
  EXPECT_THAT(ends_.Await(20), Each("ok"));
  for (auto& outcome : blocking) EXPECT_EQ(outcome.get().kind, "ok");
  EXPECT_EQ(Runs(), 1);
}

TEST_F(ExecAuthenticatorTest, RequestsThatAreRefusedShareARun) {
  refused_ = "Bearer token-1";
  Client& client = Start(PrintToken());
  for (int i = 0; i < 20; ++i) {
    client.BindAsync(BindingOf("p"), {}, ends_.Callback<void>());
  }
  EXPECT_THAT(ends_.Await(20), Each("ok"));
  EXPECT_EQ(Runs(), 2);
}

// The server may reject the last token late, when a new token has already
// replaced it. The new token may be valid.
TEST_F(ExecAuthenticatorTest, ARefusalOfAnOlderTokenKeepsTheNewOne) {
  std::vector<ServerReply> held;
  std::promise<void> both;
  HttpServer server([&](const ServerRequest& request, ServerReply reply) {
    if (request.headers.at("authorization") != "Bearer token-1") {
      return reply.Send(200, R"({"gitVersion": "v1"})");
    }
    held.push_back(std::move(reply));
    if (held.size() == 2) both.set_value();
  });
  RestConfig config = ConfigFor(server.url());
  config.exec = Exec(PrintToken());
  Client client(config, clock_);
  const auto call = [&] { return Call(client); };
  auto first = std::async(std::launch::async, call);
  auto second = std::async(std::launch::async, call);
  both.get_future().wait();
  held[0].Send(401, "");
  const auto replaced = [&] {
    return first.wait_for(0s) == std::future_status::ready ||
           second.wait_for(0s) == std::future_status::ready;
  };
  while (!replaced()) std::this_thread::yield();
  held[1].Send(401, "");
  EXPECT_EQ(first.get().kind, "ok");
  EXPECT_EQ(second.get().kind, "ok");
  EXPECT_EQ(Runs(), 2);
}

// Ends.

TEST_F(ExecAuthenticatorTest, ACancelledRequestDoesNotWaitForTheProgram) {
  Client& client = Start(AwaitGate() + PrintToken());
  std::ofstream gate;
  ExpectStopsPromptly(
      [&](const std::stop_token& stop) { client.ServerVersion(stop); },
      [&] { gate = Gate(); });
  // The program goes on, for later requests.
  client.BindAsync(BindingOf("p"), {}, ends_.Callback<void>());
  gate << "\n" << std::flush;
  EXPECT_THAT(ends_.Await(1), ElementsAre("ok"));
  EXPECT_EQ(Runs(), 1);
}

TEST_F(ExecAuthenticatorTest, ACancelledRequestDoesNotStartTheProgram) {
  Client& client = Start(PrintToken());
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(OutcomeOf([&] { client.ServerVersion(stop.get_token()); }).kind,
            "Cancelled");
  EXPECT_EQ(Call(client).kind, "ok");
  EXPECT_EQ(Runs(), 1);
}

TEST_F(ExecAuthenticatorTest, TheClientsEndKillsTheProgram) {
  Client& client = Start(R"(echo $$ >"$DIR/pid")"
                         "\n" +
                         AwaitGate() + "exec sleep 1000");
  client.BindAsync(BindingOf("p"), {}, ends_.Callback<void>());
  Gate();
  const auto start = std::chrono::steady_clock::now();
  client_.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - start, kPrompt);
  EXPECT_THAT(ends_.Now(), ElementsAre("Cancelled"));
  EXPECT_EQ(kill(std::stoi(Read("pid")), 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

// Certificates.

class ExecCertificateTest : public ExecTest {
 protected:
  ExecCertificateTest() {
    RestConfig config = ConfigFor(server_.url());
    config.ca_data = ca_.certificate;
    config.exec = Exec(R"(cat "$DIR/credential")");
    client_ = std::make_unique<Client>(config, clock_);
  }

  // Makes the program print these, and expire every minute.
  void Rotate(const std::string& certificate, const std::string& key) {
    clock_.Advance(1min);
    Write("credential",
          R"({"kind": "ExecCredential", "apiVersion": )"
          R"("client.authentication.k8s.io/v1", "status": {)"
          R"("clientCertificateData": ")" +
              Escape(certificate) + R"(", "clientKeyData": ")" + Escape(key) +
              R"(", "expirationTimestamp": "2026-01-01T00:00:00Z"}})");
  }
  void Rotate(const TestCertificate& pair) {
    Rotate(pair.certificate, pair.key);
  }

  Outcome Call() const {
    return OutcomeOf([&] { client_->ServerVersion(); });
  }

  // The common name and the connection of the last request.
  std::pair<std::string, std::size_t> Last() const {
    const ServerRequest request = server_.requests().back();
    return {request.client_certificates.at(0), request.connection};
  }

  // The text in a JSON string.
  static std::string Escape(const std::string& pem) {
    std::string escaped;
    for (const char c : pem) escaped += c == '\n' ? "\\n" : std::string(1, c);
    return escaped;
  }

  const TestCa ca_ = MakeCa("ca");
  const TestCertificate own_ = Issue(
      ca_, {.common_name = "server", .alternative_names = {"IP:127.0.0.1"}});
  HttpServer server_{
      [](const ServerRequest&, ServerReply reply) { reply.Send(200, "{}"); },
      {.certificate = own_.certificate,
       .key = own_.key,
       .client_ca = ca_.certificate}};
  FakeClock clock_;
  std::unique_ptr<Client> client_;
};

TEST_F(ExecCertificateTest, ConnectsWithTheCertificate) {
  Rotate(Issue(ca_, {.common_name = "jane"}));
  EXPECT_EQ(Call().kind, "ok");
  EXPECT_EQ(Last().first, "jane");
}

TEST_F(ExecCertificateTest, ANewCertificateTakesNewConnections) {
  const TestCertificate jane = Issue(ca_, {.common_name = "jane"});
  Rotate(jane);
  Call();
  Rotate(jane);
  Call();
  EXPECT_THAT(Last(), Pair("jane", 0u));
  Rotate(Issue(ca_, {.common_name = "john"}));
  Call();
  EXPECT_THAT(Last(), Pair("john", 1u));
  EXPECT_TRUE(server_.AwaitOpenConnections(1)) << "the old one is open";
}

TEST_F(ExecCertificateTest, RejectsACertificateThatCannotBeUsed) {
  const TestCertificate jane = Issue(ca_, {.common_name = "jane"});
  Rotate(jane.certificate, Issue(ca_, {.common_name = "john"}).key);
  const Outcome outcome = Call();
  EXPECT_EQ(outcome.kind, "ConfigError");
  EXPECT_EQ(outcome.message,
            "FILE: user \"u\": exec: client-key: the key does not belong to "
            "the client certificate");
  Rotate("secret", "secret");
  EXPECT_EQ(Call().message,
            "FILE: user \"u\": exec: client-certificate: no PEM certificate "
            "found");
  Rotate(jane);
  EXPECT_EQ(Call().kind, "ok");
}

}  // namespace
}  // namespace minisched
