// Tests calls of extenders that fail on the way, and the call of a binder.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "minisched/client/errors.h"
#include "testing/pem.h"
#include "tests/extender_testing.h"

namespace minisched {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// How long tests wait at most.
constexpr std::chrono::seconds kLongestCall{20};

class ExtenderCallTest : public ExtenderTest {
 protected:
  // Returns the error of a call with this timeout.
  std::string FilterWithin(std::chrono::nanoseconds timeout) const {
    return Filter({.http_timeout = timeout});
  }
};

TEST_F(ExtenderCallTest, DoesNotFollowARedirect) {
  fake_.On("filter", [](const ServerRequest& /*request*/, ServerReply reply) {
    reply.Send(307, "", {{"location", "/other"}});
  });
  EXPECT_EQ(Filter({}),
            "Error: failed filter with extender at URL URL/filter, code 307");
  EXPECT_EQ(fake_.calls().size(), 1);
}

TEST_F(ExtenderCallTest, AServerThatIsDownIsAnError) {
  const Extender extender(
      {.url_prefix = "http://127.0.0.1:1/api/", .filter_verb = "filter"}, {});
  NodeToStatus statuses;
  const auto left = extender.Filter(pod_, nodes_, statuses);
  ASSERT_FALSE(left);
  EXPECT_EQ(Describe(left.error()),
            "Error: http://127.0.0.1:1/api: connection refused, or no route to "
            "the server");
}

TEST_F(ExtenderCallTest, ACallHasATimeout) {
  fake_.HangsAt("filter");
  // The time may be over before there is a connection.
  EXPECT_THAT(FilterWithin(std::chrono::milliseconds(50)),
              AllOf(StartsWith("Error: URL: no "), EndsWith("within 0.05 s")));
  // The transport counts milliseconds.
  EXPECT_THAT(FilterWithin(std::chrono::nanoseconds(1)),
              AllOf(StartsWith("Error: URL: no "), EndsWith("within 0.001 s")));
}

TEST_F(ExtenderCallTest, TheTimeoutIncludesTheBody) {
  fake_.On("filter", [](const ServerRequest& /*request*/, ServerReply reply) {
    reply.Start();
    reply.Chunk("{");
  });
  EXPECT_THAT(FilterWithin(std::chrono::milliseconds(50)),
              StartsWith("Error: URL: no "));
}

TEST_F(ExtenderCallTest, AConnectionThatBreaksIsAnError) {
  fake_.On("filter", [](const ServerRequest& /*request*/, ServerReply reply) {
    reply.Start();
    reply.Chunk("{");
    reply.Reset();
  });
  EXPECT_THAT(Filter({}), StartsWith("Error: URL: connection lost: "));
  EXPECT_EQ(fake_.calls().size(), 1) << "the call is not repeated";
}

TEST_F(ExtenderCallTest, AnAnswerHasALimit) {
  fake_.On("filter", [](const ServerRequest& /*request*/, ServerReply reply) {
    reply.Start();
    const std::string spaces(std::size_t{1} << 20, ' ');
    for (int i = 0; i < 66; ++i) reply.Chunk(spaces);
  });
  EXPECT_EQ(FilterWithin(kLongestCall),
            "Error: URL: the response is larger than 64 MiB");
}

TEST_F(ExtenderCallTest, TheStopTokenCancelsACall) {
  for (const std::string verb : {"filter", "prioritize", "preempt"}) {
    fake_.HangsAt(verb);
    std::stop_source stop;
    const Extender extender(fake_.With({.filter_verb = "filter",
                                        .preempt_verb = "preempt",
                                        .prioritize_verb = "prioritize",
                                        .http_timeout = std::chrono::hours(1)}),
                            stop.get_token());
    const std::size_t before = fake_.calls().size();
    auto call = std::async(std::launch::async, [&] {
      NodeToStatus statuses;
      if (verb == "filter") {
        extender.Filter(pod_, nodes_, statuses);
      } else if (verb == "prioritize") {
        extender.Prioritize(pod_, nodes_);
      } else {
        extender.ProcessPreemption(pod_, {}, Snapshot());
      }
    });
    EXPECT_TRUE(fake_.AwaitCalls(before + 1)) << verb;
    stop.request_stop();
    EXPECT_THROW(call.get(), Cancelled) << verb;
  }
}

// A server with a certificate of an authority, and an extender's configuration.
class ExtenderTlsTest : public ::testing::Test {
 protected:
  // Returns what a call with this configuration returns: "ok" or the error.
  static std::string CallWith(const FakeExtender& fake,
                              const ExtenderTlsConfig& tls) {
    ExtenderConfig config = fake.With({.prioritize_verb = "prioritize"});
    config.enable_https = true;
    config.tls_config = tls;
    const auto scores =
        Extender(config, {}).Prioritize(*Whole<Pod>("{}"), Nodes());
    return scores ? "ok" : WithoutUrl(scores.error().Message(), fake);
  }
  static Base64 Encoded(const std::string& pem) { return {EncodeBase64(pem)}; }

  // Returns the options of a server with this name in its certificate.
  ServerOptions ServerWith(const std::string& name) const {
    const TestCertificate pair =
        Issue(ca_, {.common_name = "extender", .alternative_names = {name}});
    return {.certificate = pair.certificate, .key = pair.key};
  }

  const TestCa ca_ = MakeCa("the authority");
};

TEST_F(ExtenderTlsTest, TrustsTheAuthorityOfTheConfiguration) {
  FakeExtender fake(ServerWith("IP:127.0.0.1"));
  fake.Answers("prioritize", "[]");
  EXPECT_EQ(CallWith(fake, {.ca_data = Encoded(ca_.certificate)}), "ok");
  const TestCa other = MakeCa("another authority");
  EXPECT_THAT(CallWith(fake, {.ca_data = Encoded(other.certificate)}),
              AllOf(StartsWith("URL: "), HasSubstr("certificate")));
  EXPECT_EQ(fake.calls().size(), 1);
}

TEST_F(ExtenderTlsTest, AnInsecureExtenderIsNotVerified) {
  FakeExtender fake(ServerWith("DNS:elsewhere"));
  fake.Answers("prioritize", "[]");
  EXPECT_EQ(CallWith(fake, {.insecure = true}), "ok");
  EXPECT_NE(CallWith(fake, {.ca_data = Encoded(ca_.certificate)}), "ok");
}

TEST_F(ExtenderTlsTest, ANameReplacesTheHost) {
  FakeExtender fake(ServerWith("DNS:extender.example.com"));
  fake.Answers("prioritize", "[]");
  EXPECT_EQ(CallWith(fake, {.server_name = "extender.example.com",
                            .ca_data = Encoded(ca_.certificate)}),
            "ok");
  EXPECT_EQ(fake.calls().at(0).server_name, "extender.example.com");
}

TEST_F(ExtenderTlsTest, PresentsItsCertificate) {
  ServerOptions options = ServerWith("IP:127.0.0.1");
  options.client_ca = ca_.certificate;
  FakeExtender fake(options);
  fake.Answers("prioritize", "[]");
  const TestCertificate own = Issue(ca_, {.common_name = "scheduler"});
  EXPECT_EQ(CallWith(fake, {.cert_data = Encoded(own.certificate),
                            .key_data = Encoded(own.key),
                            .ca_data = Encoded(ca_.certificate)}),
            "ok");
  EXPECT_THAT(fake.calls().at(0).client_certificates,
              ::testing::Contains("scheduler"));
  EXPECT_NE(CallWith(fake, {.ca_data = Encoded(ca_.certificate)}), "ok");
}

TEST(NewExtenderTest, RejectsWhatNoCallCanUse) {
  EXPECT_THROW(Extender({.url_prefix = "extender"}, {}), ConfigError);
  ExtenderConfig config{.url_prefix = "https://127.0.0.1:1"};
  config.tls_config = ExtenderTlsConfig{.ca_data = {EncodeBase64("no PEM")}};
  EXPECT_THROW(Extender(config, {}), ConfigError);
}

class ExtenderBindTest : public ExtenderTest {
 protected:
  // Begins a Binding of the pod to node "a", and returns its future status.
  std::future<std::string> Begin(const std::stop_token& stop = {}) {
    extender_.emplace(fake_.With({.bind_verb = "bind",
                                  .http_timeout = std::chrono::hours(1)}),
                      std::stop_token());
    auto result = std::make_shared<std::promise<std::string>>();
    extender_->Bind(pod_, node_, stop)
        .Start([this, result](const Status& status) {
          result->set_value(ErrorOf(status));
        });
    return result->get_future();
  }
  static std::string Await(std::future<std::string> status) {
    return status.wait_for(kLongestCall) == std::future_status::ready
               ? status.get()
               : "no response";
  }
  std::string BindWith(const std::string& answer, int status = 200) {
    fake_.Answers("bind", answer, status);
    return Await(Begin());
  }

  const std::string node_ = "a";
  std::optional<Extender> extender_;
};

TEST_F(ExtenderBindTest, SendsTheBinding) {
  EXPECT_EQ(BindWith("{}"), "Success");
  ASSERT_EQ(fake_.calls().size(), 1);
  EXPECT_EQ(fake_.calls()[0].method, "POST");
  EXPECT_EQ(fake_.calls()[0].target, "/bind");
  EXPECT_EQ(fake_.calls()[0].headers.at("content-type"), "application/json");
  EXPECT_EQ(fake_.calls()[0].body,
            R"({"Node":"a","PodName":"web","PodNamespace":"shop",)"
            R"("PodUID":"u1"})");
}

TEST_F(ExtenderBindTest, Fails) {
  EXPECT_EQ(BindWith(R"({"Error":"too hot"})"),
            "Error: extender \"URL\" says: too hot");
  EXPECT_EQ(BindWith("{}", 500),
            "Error: failed bind with extender at URL URL/bind, code 500");
  EXPECT_THAT(
      BindWith("ok"),
      StartsWith("Error: extender \"URL\" gives a wrong answer to bind: "));
}

TEST_F(ExtenderBindTest, TheStopTokenCancelsTheBinding) {
  fake_.HangsAt("bind");
  std::stop_source stop;
  auto status = Begin(stop.get_token());
  EXPECT_TRUE(fake_.AwaitCalls(1));
  stop.request_stop();
  EXPECT_EQ(Await(std::move(status)), "Error: cancelled");
}

}  // namespace
}  // namespace minisched
