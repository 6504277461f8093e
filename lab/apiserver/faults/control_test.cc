#include "lab/apiserver/faults/control.h"

#include <gmock/gmock.h>

#include <boost/asio/read_until.hpp>
#include <chrono>
#include <thread>

#include "lab/apiserver/running_server_testing.h"

namespace minisched::apiserver {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kFaults[] = "/minisched/faults";
constexpr char kMaps[] = "/api/v1/namespaces/default/configmaps";
// The last chunk of a stream that ends properly.
constexpr char kLastChunk[] = "\r\n0\r\n\r\n";
constexpr char kYaml[] = "application/yaml";

std::string ConfigMap(const std::string& name) {
  return R"({"metadata": {"name": ")" + name + "\"}}";
}

Json BodyOf(const std::string& answer) {
  return Json::parse(answer.substr(answer.find("\r\n\r\n")));
}

void PutFaults(RunningServer& server, const std::string& faults) {
  EXPECT_THAT(
      Exchange(server, "PUT", kFaults, "faults: [" + faults + "]", kYaml),
      StartsWith("HTTP/1.1 200"));
}

// Starts a watch and reads the header of the response.
asio::ip::tcp::socket Watch(RunningServer& server) {
  auto socket = server.Connect();
  Send(socket, "GET", kMaps + std::string("?watch=1"), "");
  std::string header;
  asio::read_until(socket, asio::dynamic_buffer(header), "\r\n\r\n");
  return socket;
}

TEST(ControlTest, FaultsApplyUntilTheyAreDeleted) {
  RunningServer server;
  PutFaults(server, "{match: {resource: configmaps}, error: {code: 503}}");
  EXPECT_THAT(Exchange(server, "POST", kMaps, ConfigMap("a")),
              AllOf(StartsWith("HTTP/1.1 503"),
                    HasSubstr("\"reason\":\"ServiceUnavailable\"")));
  EXPECT_THAT(Exchange(server, "GET", "/version"), StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(BodyOf(Exchange(server, "GET", kFaults))["faults"][0]["applied"],
            1);
  EXPECT_THAT(Exchange(server, "DELETE", kFaults),
              HasSubstr("{\"faults\":[]}"));
  EXPECT_THAT(Exchange(server, "GET", kMaps + std::string("/a")),
              StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(Exchange(server, "POST", kMaps, ConfigMap("a")),
              StartsWith("HTTP/1.1 201"));
}

TEST(ControlTest, AFaultKeepsTheProvisionerFromMakingVolumes) {
  RunningServer server(R"(
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast}
provisioner: disk.example.com
)",
                       {.simulate_volumes = true});
  PutFaults(server, "{match: {verbs: [provision], name: a}, hang: before}");
  constexpr char kClaims[] =
      "/api/v1/namespaces/default/persistentvolumeclaims";
  for (const std::string name : {"a", "b"}) {
    Exchange(server, "POST", kClaims,
             R"({"metadata": {"name": ")" + name + R"("}, "spec": {
               "accessModes": ["ReadWriteOnce"], "storageClassName": "fast",
               "resources": {"requests": {"storage": "1Gi"}}}})");
  }
  const auto phase = [&](const std::string& name) {
    const Json claim =
        BodyOf(Exchange(server, "GET", kClaims + std::string("/") + name));
    return GetString(claim, "status", "phase");
  };
  while (phase("b") != "Bound") std::this_thread::yield();
  EXPECT_EQ(phase("a"), "Pending");
  EXPECT_EQ(BodyOf(Exchange(server, "GET", kFaults))["faults"][0]["applied"],
            1);
}

TEST(ControlTest, RefusesInvalidRequests) {
  RunningServer server;
  const auto error = [&](const std::string& method, const std::string& path,
                         const std::string& body = "",
                         const std::string& type = kYaml) {
    const Json status = BodyOf(Exchange(server, method, path, body, type));
    EXPECT_EQ(GetString(status, "kind"), "Status");
    return std::to_string(GetInt(status, "code")) + " " +
           GetString(status, "message");
  };
  EXPECT_EQ(error("PUT", kFaults, "faults: [{}]"),
            "400 faults[0]: does nothing: add latency, error, drop, hang or "
            "watch");
  EXPECT_THAT(error("PUT", kFaults, "a: [b"), StartsWith("400 line 1"));
  EXPECT_THAT(error("POST", kFaults, "{}"), StartsWith("405 "));
  EXPECT_THAT(error("GET", "/minisched/compact"), StartsWith("404 "));
  EXPECT_THAT(error("GET", "/minisched/nothing"), StartsWith("404 "));
  // A content type, followed by a second header.
  const std::string type_and_origin =
      "text/plain\r\nOrigin: http://evil.example";
  EXPECT_THAT(error("POST", "/minisched/compact", "", type_and_origin),
              StartsWith("403 "));
  for (const char* query : {"", "?seconds=", "?seconds=0", "?seconds=long",
                            "?seconds=-1", "?seconds=3601"}) {
    EXPECT_THAT(error("POST", "/minisched/away" + std::string(query)),
                StartsWith("400 seconds: must be"))
        << query;
  }
}

TEST(ControlTest, DelayedRequestsSucceed) {
  RunningServer server;
  PutFaults(server, "{latency: 1ms}");
  EXPECT_THAT(Exchange(server, "POST", kMaps, ConfigMap("a")),
              StartsWith("HTTP/1.1 201"));
}

TEST(ControlTest, DropsRequestsBeforeOrAfterTheirEffect) {
  RunningServer server;
  PutFaults(server,
            "{match: {verbs: [create]}, times: 1, drop: before}, "
            "{match: {verbs: [create]}, drop: after}");
  EXPECT_EQ(Exchange(server, "POST", kMaps, ConfigMap("a")), "");
  EXPECT_THAT(Exchange(server, "GET", kMaps + std::string("/a")),
              StartsWith("HTTP/1.1 404"));
  EXPECT_EQ(Exchange(server, "POST", kMaps, ConfigMap("a")), "");
  EXPECT_THAT(Exchange(server, "GET", kMaps + std::string("/a")),
              StartsWith("HTTP/1.1 200"));
}

TEST(ControlTest, RequestsHangUntilTheServerStops) {
  RunningServer server;
  PutFaults(server, "{match: {verbs: [create]}, hang: after}");
  auto socket = server.Connect();
  Send(socket, "POST", kMaps, ConfigMap("a"));
  while (!Exchange(server, "GET", kMaps + std::string("/a"))
              .starts_with("HTTP/1.1 200")) {
    std::this_thread::yield();
  }
  EXPECT_EQ(socket.available(), 0U);
  server->Stop();
  EXPECT_EQ(ReadAll(socket), "");
}

TEST(ControlTest, ACutWatchEndsWithoutTheLastChunk) {
  RunningServer server;
  PutFaults(server, "{watch: {cut: 1ms}}");
  EXPECT_THAT(Exchange(server, "GET", kMaps + std::string("?watch=1")),
              AllOf(StartsWith("HTTP/1.1 200"), Not(HasSubstr(kLastChunk))));
}

TEST(ControlTest, WatchEventsAreDelayed) {
  RunningServer server;
  PutFaults(server, "{watch: {delay: 200ms}}");
  auto socket = Watch(server);
  const auto start = std::chrono::steady_clock::now();
  Exchange(server, "POST", kMaps, ConfigMap("late"));
  std::string text;
  asio::read_until(socket, asio::dynamic_buffer(text), "\"name\":\"late\"");
  EXPECT_GE(std::chrono::steady_clock::now() - start,
            std::chrono::milliseconds(200));
}

TEST(ControlTest, CompactionExpiresOldVersionsAndContinueTokens) {
  RunningServer server;
  Exchange(server, "POST", kMaps, ConfigMap("a"));
  Exchange(server, "POST", kMaps, ConfigMap("b"));
  const Json page =
      BodyOf(Exchange(server, "GET", kMaps + std::string("?limit=1")));
  Exchange(server, "POST", kMaps, ConfigMap("c"));
  const std::string version = GetString(page, "metadata", "resourceVersion");
  const std::string watch =
      kMaps + std::string("?watch=1&timeoutSeconds=1&resourceVersion=");
  EXPECT_THAT(Exchange(server, "POST", "/minisched/compact"),
              HasSubstr("\"Success\""));
  EXPECT_THAT(Exchange(server, "GET", watch + version),
              AllOf(HasSubstr("\"code\":410"), HasSubstr("\"Expired\""),
                    HasSubstr("too old resource version: " + version)));
  EXPECT_THAT(Exchange(server, "GET",
                       kMaps + std::string("?continue=") +
                           GetString(page, "metadata", "continue")),
              AllOf(StartsWith("HTTP/1.1 410"),
                    HasSubstr("The provided continue parameter is too old")));
}

TEST(ControlTest, ObjectsSurviveAnOutage) {
  RunningServer server;
  Exchange(server, "POST", kMaps, ConfigMap("a"));
  auto watch = Watch(server);
  EXPECT_THAT(Exchange(server, "POST", "/minisched/away?seconds=3600"),
              StartsWith("HTTP/1.1 202"));
  EXPECT_THROW(server.Connect(), boost::system::system_error);
  EXPECT_THAT(ReadAll(watch), Not(HasSubstr(kLastChunk)));

  // This replaces the rest of the hour, so the server comes back.
  server->GoAway(std::chrono::milliseconds(1));
  for (bool back = false; !back; std::this_thread::yield()) {
    try {
      back = Exchange(server, "GET", kMaps + std::string("/a"))
                 .starts_with("HTTP/1.1 200");
    } catch (const boost::system::system_error&) {
    }
  }
}

TEST(ControlTest, CountsRequestsByClient) {
  RunningServer server;
  // A content type, followed by a second header.
  const std::string type_and_agent =
      std::string(kYaml) + "\r\nUser-Agent: me/1";
  PutFaults(server, "{match: {verbs: [get]}, drop: before}");
  Exchange(server, "GET", kMaps, "", type_and_agent);
  Exchange(server, "GET", kMaps, "", type_and_agent);
  Exchange(server, "GET", kMaps + std::string("/a"), "", type_and_agent);
  const Json items = BodyOf(Exchange(server, "GET", "/minisched/requests", "",
                                     type_and_agent))["items"];
  const auto item = [](const std::string& verb, int count) {
    return Json{{"userAgent", "me/1"},
                {"verb", verb},
                {"resource", "configmaps"},
                {"subresource", ""},
                {"count", count}};
  };
  EXPECT_THAT(items,
              ::testing::UnorderedElementsAre(item("list", 2), item("get", 1)));
}

TEST(ControlTest, SetFaultsReplacesTheFaults) {
  RunningServer server;
  server->SetFaults("faults: [{drop: before}]");
  EXPECT_EQ(Exchange(server, "GET", kMaps), "");
  server->SetFaults("{}");
  EXPECT_THAT(Exchange(server, "GET", kMaps), StartsWith("HTTP/1.1 200"));
  try {
    server->SetFaults("seed: x", "file");
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(),
                 "file: seed: must be a whole number of at least 0, is \"x\"");
  }
}

}  // namespace
}  // namespace minisched::apiserver
