#include "minisched/metrics/health_checks.h"

#include <gmock/gmock.h>

#include <optional>
#include <string>

#include "minisched/http/http_testing.h"
#include "minisched/metrics/metrics_server.h"

namespace minisched {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Path = HealthChecks::Path;

class HealthChecksTest : public ::testing::Test {
 protected:
  HealthChecks::Registration Add(Path path, const std::string& name,
                                 std::optional<std::string> reason = {}) {
    return checks_.Add(path, name, [reason] { return reason; });
  }

  // Returns the status and the body: "200 ok".
  std::string Get(const std::string& target) const {
    const std::string reply = http::Ask(server_.url(), "GET", target);
    return reply.substr(9, 4) + reply.substr(reply.find("\r\n\r\n") + 4);
  }

  HealthChecks checks_;
  const MetricsServer server_{"127.0.0.1", 0, [] { return ""; }, {}, checks_};
};

TEST_F(HealthChecksTest, WithoutChecksOnlyTheProgramIsChecked) {
  EXPECT_EQ(Get("/livez"), "200 ok");
  EXPECT_EQ(Get("/healthz?verbose"), "200 ok");
  for (const char* path : {"/readyz", "/livez/ping", "/livezz", "/healthz/"}) {
    EXPECT_EQ(Get(path), "404 404 page not found\n") << path;
  }
}

TEST_F(HealthChecksTest, APathWithoutChecksHasPing) {
  const auto check = Add(Path::kReadyz, "shutdown");
  EXPECT_EQ(Get("/livez"), "200 ok");
  EXPECT_EQ(Get("/livez?verbose"), "200 [+]ping ok\nlivez check passed\n");
  EXPECT_EQ(Get("/livez/ping"), "200 ok");
  EXPECT_EQ(Get("/healthz/ping"), "200 ok");
  EXPECT_EQ(Get("/readyz/ping"), "404 404 page not found\n");
}

TEST_F(HealthChecksTest, ReportsEachCheck) {
  const auto first = Add(Path::kReadyz, "leaderElection");
  const auto second = Add(Path::kReadyz, "shutdown");
  EXPECT_EQ(Get("/readyz"), "200 ok");
  EXPECT_EQ(Get("/readyz?verbose"),
            "200 [+]leaderElection ok\n[+]shutdown ok\nreadyz check passed\n");
  EXPECT_EQ(Get("/readyz/shutdown"), "200 ok");
  EXPECT_EQ(Get("/readyz/other"), "404 404 page not found\n");
  EXPECT_EQ(Get("/readyz/"), "404 404 page not found\n");
}

// The response of all checks withholds the reason of a failure. The path of the
// one check has it.
TEST_F(HealthChecksTest, AFailedCheckIsReported) {
  const auto first = Add(Path::kReadyz, "leaderElection");
  const auto second = Add(Path::kReadyz, "shutdown", "process ends");
  EXPECT_EQ(Get("/readyz"),
            "500 [+]leaderElection ok\n[-]shutdown failed: reason withheld\n"
            "readyz check failed\n");
  EXPECT_EQ(Get("/readyz/shutdown"),
            "500 internal server error: process ends\n");
  EXPECT_EQ(Get("/livez"), "200 ok");
  EXPECT_THAT(http::Ask(server_.url(), "GET", "/readyz"),
              AllOf(StartsWith("HTTP/1.1 500 "),
                    HasSubstr("X-Content-Type-Options: nosniff\r\n"),
                    HasSubstr("Content-Type: text/plain; charset=utf-8\r\n")));
}

TEST_F(HealthChecksTest, LeavesOutWhatIsExcluded) {
  const auto first = Add(Path::kReadyz, "a");
  const auto second = Add(Path::kReadyz, "b", "broken");
  EXPECT_EQ(Get("/readyz?exclude=b"), "200 ok");
  EXPECT_EQ(Get("/readyz?exclude=a&exclude=b&verbose"),
            "200 [+]a excluded: ok\n[+]b excluded: ok\nreadyz check passed\n");
  EXPECT_EQ(Get("/readyz?verbose=1&exclude=b&exclude=z&exclude=y"),
            "200 [+]a ok\n[+]b excluded: ok\nwarn: some health checks cannot "
            "be excluded: no matches for \"y\",\"z\"\nreadyz check passed\n");
  EXPECT_EQ(Get("/livez?exclude=ping&verbose"),
            "200 [+]ping excluded: ok\nlivez check passed\n");
}

TEST_F(HealthChecksTest, ACheckEndsWithItsRegistration) {
  auto broken = Add(Path::kHealthz, "a", "broken");
  const auto other = Add(Path::kHealthz, "b");
  EXPECT_THAT(Get("/healthz"), StartsWith("500 [-]a"));
  broken.reset();
  EXPECT_EQ(Get("/healthz?verbose"), "200 [+]b ok\nhealthz check passed\n");
}

TEST_F(HealthChecksTest, RefusesOtherMethods) {
  const auto check = Add(Path::kReadyz, "a");
  for (const char* path : {"/readyz", "/readyz/a"}) {
    EXPECT_THAT(
        http::Ask(server_.url(), "POST", path),
        AllOf(StartsWith("HTTP/1.1 405 "), HasSubstr("Allow: GET, HEAD\r\n")));
    EXPECT_THAT(http::Ask(server_.url(), "HEAD", path),
                AllOf(StartsWith("HTTP/1.1 200 "), EndsWith("\r\n\r\n")));
  }
}

}  // namespace
}  // namespace minisched
