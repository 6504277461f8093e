// The data of a Secret never reaches a log.
#include <gmock/gmock.h>

#include "lab/apiserver/running_server_testing.h"
#include "testing/log_capture.h"

namespace minisched::apiserver {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kSecrets[] = "/api/v1/namespaces/default/secrets";
// "hunter2hunter2" as base64 and as text, and a number.
constexpr char kSecret[] = R"({"metadata": {"name": "s", "ownerReferences": [
    {"apiVersion": "v1", "kind": "Node", "name": "none", "uid": "1"}],
    "finalizers": ["x.y/z"]},
  "data": {"a": "aHVudGVyMmh1bnRlcjI="},
  "stringData": {"b": "hunter2hunter2"}})";

auto IsSafe() {
  return AllOf(Not(HasSubstr("hunter2")), Not(HasSubstr("aHVudGVy")),
               Not(HasSubstr("271828")));
}

TEST(SecretsTest, LogsAndMetricsHaveNoData) {
  const LogCapture log;
  spdlog::default_logger()->set_level(spdlog::level::trace);
  std::string shown;
  {
    RunningServer server;
    server->SetFaults("faults: [{match: {resource: secrets}, latency: 1ms}]",
                      "faults");
    EXPECT_THAT(Exchange(server, "POST", kSecrets, kSecret),
                StartsWith("HTTP/1.1 201"));
    EXPECT_THAT(Exchange(server, "POST", kSecrets, kSecret),
                StartsWith("HTTP/1.1 409"));
    const std::string path = kSecrets + std::string("/s");
    EXPECT_THAT(Exchange(server, "GET", path), HasSubstr("aHVudGVy"));
    EXPECT_THAT(
        Exchange(server, "PATCH", path, R"({"stringData": {"c": 271828}})",
                 "application/merge-patch+json"),
        StartsWith("HTTP/1.1 422"));
    EXPECT_THAT(Exchange(server, "DELETE", path), StartsWith("HTTP/1.1 200"));
    for (const char* page :
         {"/metrics", "/minisched/faults", "/minisched/requests"}) {
      shown += Exchange(server, "GET", page);
    }
  }
  EXPECT_THAT(shown, AllOf(HasSubstr("secrets"), IsSafe()));
  EXPECT_THAT(log.text(), AllOf(HasSubstr("secrets/s"), IsSafe()));
}

TEST(SecretsTest, ErrorsOfAManifestHaveNoData) {
  for (const char* data :
       {"data: {a: hunter2}", "data: {a: 271828}", "stringData: {a: 271828}",
        "stringData: [hunter2]", "data: {a: [hunter2]}"}) {
    const std::string manifest =
        std::string("{apiVersion: v1, kind: Secret, metadata: {name: s}, ") +
        data + "}";
    Server server({});
    try {
      server.Load(manifest, "x.yaml");
      FAIL() << data;
    } catch (const std::runtime_error& error) {
      EXPECT_THAT(error.what(),
                  AllOf(StartsWith("x.yaml: Secret s: "), IsSafe()));
    }
    EXPECT_THAT(server.Restore(manifest, "x.yaml"),
                ::testing::ElementsAre(IsSafe()));
  }
}

}  // namespace
}  // namespace minisched::apiserver
