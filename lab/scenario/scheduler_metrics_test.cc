#include "lab/scenario/scheduler_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/scenario/errors.h"
#include "minisched/client/errors.h"
#include "testing/http_server.h"
#include "testing/pem.h"

namespace minisched::scenario {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

HttpServer::Handler Replies(int status, const std::string& body) {
  return [=](const ServerRequest&, ServerReply reply) {
    reply.Send(status, body, {{"Content-Type", "text/plain; version=0.0.4"}});
  };
}

std::string MetricsComplaint(const std::string& url) {
  try {
    SchedulerMetrics(url).Read({});
  } catch (const MetricsError& error) {
    return error.what();
  } catch (const CannotPlay& error) {
    return error.what();
  }
  return "no complaint";
}

TEST(SchedulerMetricsTest, ReadsTheSamples) {
  const HttpServer server(Replies(200, "# TYPE a gauge\na 3\n"));
  SchedulerMetrics metrics(server.url() + "/custom/metrics");
  const std::vector<Sample> samples = metrics.Read({});
  ASSERT_EQ(samples.size(), 1U);
  EXPECT_EQ(samples[0].value, 3);
  const ServerRequest request = server.requests().at(0);
  EXPECT_EQ(request.target, "/custom/metrics");
  EXPECT_EQ(request.headers.at("accept"), "text/plain;version=0.0.4");
}

TEST(SchedulerMetricsTest, AcceptsASelfSignedCertificateOnLoopback) {
  const TestCa ca = MakeCa("scheduler");
  const TestCertificate pair = Issue(ca, {"scheduler"});
  const HttpServer server(Replies(200, "a 3\n"),
                          {.certificate = pair.certificate, .key = pair.key});
  EXPECT_THAT(server.url(), StartsWith("https://127.0.0.1:"));
  EXPECT_EQ(SchedulerMetrics(server.url() + "/metrics").Read({}).size(), 1U);
  const std::string by_name =
      "https://localhost:" + std::to_string(server.port()) + "/metrics";
  EXPECT_EQ(SchedulerMetrics(by_name).Read({}).size(), 1U);
}

// On Linux, 0.0.0.0 connects to this machine, but is no loopback address.
TEST(SchedulerMetricsTest, VerifiesTheCertificateElsewhere) {
  const TestCa ca = MakeCa("scheduler");
  const TestCertificate pair = Issue(ca, {"scheduler"});
  const HttpServer server(Replies(200, "a 3\n"),
                          {.certificate = pair.certificate, .key = pair.key});
  EXPECT_THAT(MetricsComplaint("https://0.0.0.0:" +
                               std::to_string(server.port()) + "/metrics"),
              HasSubstr("certificate"));
}

TEST(SchedulerMetricsTest, ErrorsNameTheUrlAndTheReason) {
  const std::string what = "cannot read the scheduler's metrics at ";
  std::string url;
  {
    const HttpServer server(Replies(403, "forbidden"));
    url = server.url() + "/metrics";
    EXPECT_EQ(MetricsComplaint(url), what + url + ": HTTP status 403");
  }
  EXPECT_EQ(MetricsComplaint(url),
            what + url + ": connection refused, or no route to the server");
  const HttpServer server(Replies(200, "a 1\n<html>"));
  url = server.url() + "/";
  EXPECT_EQ(MetricsComplaint(url),
            what + url + ": line 2: expected a name, found \"<html>\"");
}

TEST(SchedulerMetricsTest, AStopRequestEndsARead) {
  const HttpServer server([](const ServerRequest&, const ServerReply&) {},
                          {.silent = true});
  SchedulerMetrics metrics(server.url() + "/metrics");
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(metrics.Read(stop.get_token()), Cancelled);
}

TEST(SchedulerMetricsTest, RejectsWhatIsNoUrl) {
  for (const std::string url :
       {"", "127.0.0.1:10251", "ftp://a/metrics", "http://a", "http:///metrics",
        "http://a:b/metrics", "http://a/metrics?x=y", "https://$HOST:1 /"}) {
    EXPECT_EQ(MetricsComplaint(url), "--metrics " + url +
                                         ": expected a URL such as "
                                         "http://127.0.0.1:10251/metrics");
  }
  EXPECT_THAT(MetricsComplaint("http://[::1]:1/metrics"),
              StartsWith("cannot read the scheduler's metrics at "
                         "http://[::1]:1/metrics: "));
}

}  // namespace
}  // namespace minisched::scenario
