#include "minisched/client/tls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "minisched/api/time.h"
#include "minisched/client/client_testing.h"
#include "minisched/client/transport.h"
#include "testing/http_server.h"
#include "testing/pem.h"

namespace minisched {
namespace {

using std::chrono::hours;
using std::chrono::system_clock;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A server with a certificate and a client that trusts its authority.
class TlsTest : public testing::Test {
 protected:
  std::unique_ptr<HttpServer> Serve(const TestSubject& subject,
                                    const std::string& client_ca = "") {
    const TestCertificate pair = Issue(ca_, subject);
    auto server = std::make_unique<HttpServer>(
        [](const ServerRequest&, ServerReply reply) { reply.Send(200, "ok"); },
        ServerOptions{.certificate = pair.certificate,
                      .key = pair.key,
                      .client_ca = client_ca});
    config_ = ConfigFor(server->url());
    config_.ca_data = ca_.certificate;
    return server;
  }

  Outcome Send() const {
    Transport transport(config_);
    return OutcomeOf([&] { transport.Send(kGetPods, {}); });
  }

  // Sends a request and returns the message of the kTls error.
  std::string Refusal() const {
    const Outcome outcome = Send();
    EXPECT_EQ(outcome.kind, "kTls") << outcome;
    EXPECT_TRUE(outcome.message.starts_with(config_.server + ": "));
    return outcome.message.substr(
        std::min(outcome.message.size(), config_.server.size() + 2));
  }

  const TestCa ca_ = MakeCa("the authority");
  const TestSubject subject_{.common_name = "server",
                             .alternative_names = {"IP:127.0.0.1"}};
  RestConfig config_;
};

std::string Day(system_clock::time_point time) {
  return FormatTime(std::chrono::floor<Time::duration>(
      std::chrono::time_point_cast<std::chrono::seconds>(time)));
}

// Trusted authorities.

TEST_F(TlsTest, AcceptsTheConfiguredAuthority) {
  const auto server = Serve(subject_);
  EXPECT_EQ(Send().kind, "ok");
}

TEST_F(TlsTest, AcceptsAnyOfSeveralAuthorities) {
  const auto server = Serve(subject_);
  config_.ca_data = MakeCa("another").certificate + ca_.certificate;
  EXPECT_EQ(Send().kind, "ok");
}

TEST_F(TlsTest, RejectsAnotherAuthority) {
  const auto server = Serve(subject_);
  config_.ca_data = MakeCa("another").certificate;
  EXPECT_EQ(Refusal(),
            "the server's certificate \"CN=server\" is not signed by the "
            "configured certificate authority (unable to get local issuer "
            "certificate)");
  EXPECT_THAT(server->requests(), IsEmpty());
}

TEST_F(TlsTest, WithoutAnAuthorityUsesTheSystems) {
  const auto server = Serve(subject_);
  config_.ca_data.clear();
  EXPECT_THAT(Refusal(), HasSubstr("\"CN=server\" is not signed by "));
}

// Counts how often a file is opened.
class OpenCounter {
 public:
  explicit OpenCounter(const std::string& path) {
    inotify_add_watch(inotify_, path.c_str(), IN_OPEN);
  }
  ~OpenCounter() { close(inotify_); }
  OpenCounter(const OpenCounter&) = delete;
  OpenCounter& operator=(const OpenCounter&) = delete;

  // Returns how often the file was opened since the last call.
  std::size_t Take() const {
    std::array<inotify_event, 1000> events;
    const ssize_t size = read(inotify_, events.data(), sizeof events);
    return size < 0 ? 0 : static_cast<std::size_t>(size) / sizeof events[0];
  }

 private:
  const int inotify_ = inotify_init1(IN_NONBLOCK);
};

// In its own process, because a process reads the system's authorities once.
TEST_F(TlsTest, ReadsTheSystemsAuthoritiesOnceIfNeeded) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto run = [&] {
    std::string path = testing::TempDir() + "authorities.XXXXXX";
    close(mkstemp(path.data()));
    std::ofstream(path) << ca_.certificate << std::flush;
    setenv("SSL_CERT_FILE", path.c_str(), 1);
    const OpenCounter opened(path);
    const auto server = Serve(subject_);
    EXPECT_EQ(Send().kind, "ok");
    EXPECT_EQ(opened.Take(), 0);
    config_.ca_data.clear();
    EXPECT_EQ(Send().kind, "ok");
    EXPECT_EQ(opened.Take(), 1);
    EXPECT_EQ(Send().kind, "ok");
    EXPECT_EQ(opened.Take(), 0);
    std::remove(path.c_str());
    std::_Exit(HasFailure() ? 1 : 0);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(0), "");
}

TEST_F(TlsTest, RejectsAnExpiredCertificateWithTheDate) {
  TestSubject subject = subject_;
  subject.not_before = system_clock::now() - hours(3);
  subject.not_after = system_clock::now() - hours(2);
  const auto server = Serve(subject);
  EXPECT_EQ(Refusal(), "the server's certificate \"CN=server\" expired on " +
                           Day(subject.not_after));
}

TEST_F(TlsTest, RejectsACertificateThatIsNotYetValidWithTheDate) {
  TestSubject subject = subject_;
  subject.not_before = system_clock::now() + hours(2);
  subject.not_after = system_clock::now() + hours(3);
  const auto server = Serve(subject);
  EXPECT_EQ(Refusal(),
            "the server's certificate \"CN=server\" is not valid before " +
                Day(subject.not_before));
}

TEST_F(TlsTest, ReportsTheReasonForEachRequest) {
  TestSubject subject = subject_;
  subject.not_after = system_clock::now() - std::chrono::minutes(1);
  const auto server = Serve(subject);
  Transport transport(config_);
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(OutcomeOf([&] { transport.Send(kGetPods, {}); }).message,
                HasSubstr("expired on"));
  }
}

TEST_F(TlsTest, SkipsTheCheckWithInsecureSkipTlsVerify) {
  TestSubject subject = subject_;
  subject.not_after = system_clock::now() - std::chrono::minutes(1);
  subject.alternative_names = {"DNS:elsewhere"};
  const auto server = Serve(subject);
  config_.ca_data.clear();
  config_.insecure_skip_tls_verify = true;
  EXPECT_EQ(Send().kind, "ok");
}

TEST_F(TlsTest, ReusesItsConnection) {
  const auto server = Serve(subject_);
  Transport transport(config_);
  for (int i = 0; i < 10; ++i) transport.Send(kGetPods, {});
  EXPECT_EQ(server->accepted_connections(), 1);
}

// The server's name.

TEST_F(TlsTest, RejectsAnotherAddress) {
  TestSubject subject = subject_;
  subject.alternative_names = {"IP:127.0.0.2", "DNS:localhost"};
  const auto server = Serve(subject);
  EXPECT_EQ(Refusal(),
            "the server's certificate \"CN=server\" is not for 127.0.0.1; "
            "set tls-server-name to expect another name");
}

// As upstream: names in the subject have long been deprecated.
TEST_F(TlsTest, IgnoresAnAddressInTheCommonName) {
  const auto server = Serve({.common_name = "127.0.0.1"});
  EXPECT_THAT(Refusal(), HasSubstr("is not for 127.0.0.1"));
}

TEST_F(TlsTest, SendsNoServerNameForAnAddress) {
  const auto server = Serve(subject_);
  ASSERT_EQ(Send().kind, "ok");
  EXPECT_EQ(server->requests().at(0).server_name, "");
}

TEST_F(TlsTest, SendsAndChecksAHostName) {
  TestSubject subject = subject_;
  subject.alternative_names = {"DNS:localhost"};
  const auto server = Serve(subject);
  config_.server = "https://localhost:" + std::to_string(server->port());
  ASSERT_EQ(Send().kind, "ok");
  EXPECT_EQ(server->requests().at(0).server_name, "localhost");
}

TEST_F(TlsTest, RejectsAnotherHostName) {
  const auto server = Serve(subject_);
  config_.server = "https://localhost:" + std::to_string(server->port());
  EXPECT_THAT(Refusal(), HasSubstr("is not for localhost; "));
}

TEST_F(TlsTest, TlsServerNameReplacesTheHost) {
  TestSubject subject = subject_;
  subject.alternative_names = {"DNS:*.example.com"};
  const auto server = Serve(subject);
  config_.tls_server_name = "api.example.com";
  ASSERT_EQ(Send().kind, "ok");
  EXPECT_EQ(server->requests().at(0).server_name, "api.example.com");

  config_.tls_server_name = "api.example.org";
  EXPECT_THAT(Refusal(), HasSubstr("is not for api.example.org"));
}

TEST_F(TlsTest, SendsTlsServerNameWithoutCheckingIt) {
  const auto server = Serve(subject_);
  config_.tls_server_name = "api.example.com";
  config_.insecure_skip_tls_verify = true;
  ASSERT_EQ(Send().kind, "ok");
  EXPECT_EQ(server->requests().at(0).server_name, "api.example.com");
}

TEST_F(TlsTest, AcceptsAnIpv6Address) {
  const TestCertificate pair =
      Issue(ca_, {.common_name = "server", .alternative_names = {"IP:::1"}});
  HttpServer server(
      [](const ServerRequest&, ServerReply reply) { reply.Send(200, "ok"); },
      {.address = "::1", .certificate = pair.certificate, .key = pair.key});
  config_ = ConfigFor(server.url());
  config_.ca_data = ca_.certificate;
  EXPECT_EQ(Send().kind, "ok");
  EXPECT_EQ(server.requests().at(0).server_name, "");
}

TEST(IsIpAddressTest, DistinguishesAddressesFromNames) {
  for (const std::string address :
       {"127.0.0.1", "::1", "[::1]", "[fd00:10:96::1]"}) {
    EXPECT_TRUE(IsIpAddress(address)) << address;
  }
  for (const std::string name : {"localhost", "1.2.3", "1.2.3.4.5", "", "[]"}) {
    EXPECT_FALSE(IsIpAddress(name)) << name;
  }
}

// The client certificate.

TEST_F(TlsTest, SendsTheCertificateWithItsChain) {
  const TestCa client_ca = MakeCa("client authority");
  const TestCertificate client = Issue(client_ca, {.common_name = "jane"});
  const auto server = Serve(subject_, client_ca.certificate);
  // Certificates after the first are sent too.
  config_.client_certificate_data = client.certificate + client_ca.certificate;
  config_.client_key_data = client.key;
  ASSERT_EQ(Send().kind, "ok");
  EXPECT_THAT(server->requests().at(0).client_certificates,
              ElementsAre("jane", "client authority"));
}

TEST_F(TlsTest, ReportsThatTheServerRequiresACertificate) {
  const auto server = Serve(subject_, MakeCa("client authority").certificate);
  EXPECT_EQ(Refusal(),
            "TLS handshake failed: tlsv13 alert certificate required");
}

TEST_F(TlsTest, ReportsThatTheServerRejectsTheCertificate) {
  const auto server = Serve(subject_, MakeCa("client authority").certificate);
  const TestCertificate client = Issue(ca_, {.common_name = "jane"});
  config_.client_certificate_data = client.certificate;
  config_.client_key_data = client.key;
  EXPECT_EQ(Refusal(), "TLS handshake failed: tlsv1 alert unknown ca");
}

TEST_F(TlsTest, RejectsBrokenCertificatesAndKeysAtOnce) {
  const TestCertificate pair = Issue(ca_, {.common_name = "jane"});
  const auto error = [](RestConfig config) {
    config.server = "https://127.0.0.1";
    config.source = "test";
    const Outcome outcome = OutcomeOf([&] { Transport{config}; });
    EXPECT_EQ(outcome.kind, "ConfigError") << outcome;
    return outcome.message;
  };
  EXPECT_EQ(error({.ca_data = "x"}),
            "test: certificate-authority: no PEM certificate found");
  EXPECT_EQ(error({.client_certificate_data = pair.certificate}),
            "test: client-key: no readable PEM private key found");
  EXPECT_EQ(
      error({.client_certificate_data = "x", .client_key_data = pair.key}),
      "test: client-certificate: no PEM certificate found");
  EXPECT_EQ(error({.client_certificate_data = pair.certificate,
                   .client_key_data = EncryptKey(pair.key, "secret")}),
            "test: client-key: the key is encrypted, which is not supported");
  EXPECT_EQ(error({.client_certificate_data = pair.certificate,
                   .client_key_data = Issue(ca_, {"another"}).key}),
            "test: client-key: the key does not belong to the client "
            "certificate");
  const TestCertificate weak =
      Issue(ca_, {.common_name = "jane", .curve = "P-192"});
  EXPECT_EQ(error({.client_certificate_data = weak.certificate,
                   .client_key_data = weak.key}),
            "test: client-certificate: ee key too small");
}

// A connection that ends during the handshake.

// Reads the beginning of one TLS handshake, and closes the connection.
class ClosingServer {
 public:
  // With `reset`, the client receives an RST instead of a FIN.
  explicit ClosingServer(bool reset) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(bind(listener_, any, size), 0);
    EXPECT_EQ(listen(listener_, 1), 0);
    EXPECT_EQ(getsockname(listener_, any, &size), 0);
    url_ = "https://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    thread_ = std::jthread([this, reset] {
      const int connection = accept(listener_, nullptr, nullptr);
      std::array<char, 4096> hello;
      EXPECT_GT(read(connection, hello.data(), hello.size()), 0);
      const linger linger{.l_onoff = reset ? 1 : 0, .l_linger = 0};
      setsockopt(connection, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
      close(connection);
    });
  }
  ~ClosingServer() {
    thread_.join();
    close(listener_);
  }
  ClosingServer(const ClosingServer&) = delete;
  ClosingServer& operator=(const ClosingServer&) = delete;

  const std::string& url() const { return url_; }

 private:
  const int listener_ = socket(AF_INET, SOCK_STREAM, 0);
  std::string url_;
  std::jthread thread_;
};

// The server may be starting, or a load balancer may have no server yet.
TEST_F(TlsTest, AConnectionThatEndsInTheHandshakeIsNoTlsError) {
  for (const bool reset : {false, true}) {
    const ClosingServer server(reset);
    config_ = ConfigFor(server.url());
    const Outcome outcome = Send();
    EXPECT_EQ(outcome.kind, "kConnect") << outcome;
    EXPECT_EQ(outcome.message,
              server.url() + ": connection closed during the TLS handshake");
  }
}

// Only one side uses TLS.

// Some servers without TLS close a connection that begins with a handshake.
TEST_F(TlsTest, FailsIfTheServerHasNoTls) {
  HttpServer server(
      [](const ServerRequest&, ServerReply reply) { reply.Send(400, "?"); });
  config_ = ConfigFor("https://127.0.0.1:" + std::to_string(server.port()));
  EXPECT_NE(Send().kind, "ok");
}

TEST_F(TlsTest, ReportsAServerThatAnswersTlsWithHttp) {
  // As Go's servers do.
  HttpServer server(
      [](const ServerRequest&, ServerReply) {},
      {.silent = true, .greeting = "HTTP/1.0 400 Bad Request\r\n\r\n"});
  config_ = ConfigFor("https://127.0.0.1:" + std::to_string(server.port()));
  EXPECT_EQ(Refusal(), "the server does not speak TLS; is it an http:// one?");
}

TEST_F(TlsTest, FailsIfTheClientHasNoTls) {
  const auto server = Serve(subject_);
  config_.server = "http://127.0.0.1:" + std::to_string(server->port());
  EXPECT_EQ(Send().kind, "kLost");
}

}  // namespace
}  // namespace minisched
