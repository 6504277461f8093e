#include "lab/apiserver/server.h"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <array>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>
#include <vector>

#include "lab/apiserver/running_server_testing.h"

namespace minisched::apiserver {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

using Json = nlohmann::json;

constexpr char kPods[] = "/api/v1/namespaces/default/pods";

std::string Pod(const std::string& name) {
  return Json{{"metadata", {{"name", name}}},
              {"spec", {{"containers", {{{"name", "c"}, {"image", "i"}}}}}}}
      .dump();
}

TEST(ServerTest, LoadsManifests) {
  RunningServer server(R"(
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: shop}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}
)");
  EXPECT_THAT(Exchange(server, "GET", "/api/v1/namespaces/shop/configmaps/a"),
              StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(
      Exchange(server, "GET", "/api/v1/namespaces/default/configmaps/b"),
      StartsWith("HTTP/1.1 200"));
}

// Without this setting, @kubernetes/client-node refuses a server without TLS.
TEST(ServerTest, KubeconfigAllowsPlainHttp) {
  Server server({});
  EXPECT_THAT(server.Kubeconfig(),
              HasSubstr("    server: " + server.url() +
                        "\n    insecure-skip-tls-verify: true\n"));
}

std::string LoadError(const std::string& manifest) {
  Server server({});
  try {
    server.Load(manifest, "x.yaml");
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(ServerTest, LoadErrorNamesTheObjectAndTheFault) {
  EXPECT_EQ(LoadError("{apiVersion: v9, kind: Pod, metadata: {name: a}}"),
            "x.yaml: Pod a: unknown kind: apiVersion \"v9\", kind \"Pod\"");
  EXPECT_THAT(LoadError("{apiVersion: v1, kind: Pod, metadata: {name: a}}"),
              HasSubstr("x.yaml: Pod a: Pod \"a\" is invalid: "
                        "spec.containers: Required value"));
  EXPECT_THAT(LoadError("{apiVersion: v1, kind: Node, spec: {colour: red}}"),
              HasSubstr("unknown field \"spec.colour\""));
  EXPECT_THAT(LoadError("a: [b"), StartsWith("x.yaml: "));
}

TEST(ServerTest, SaysWhyKubectlLogsAndTheLikeAreNotServed) {
  RunningServer server;
  const std::string root = "/api/v1/namespaces/default/";
  for (const auto& [method, path] : {std::pair("GET", "pods/a/log"),
                                     {"POST", "pods/a/exec?command=ls"},
                                     {"GET", "pods/a/exec"},
                                     {"POST", "pods/a/attach"},
                                     {"POST", "pods/a/portforward"},
                                     {"PATCH", "pods/a/ephemeralcontainers"},
                                     {"GET", "pods/a/proxy/x/y"},
                                     {"GET", "services/a/proxy"},
                                     {"POST", "serviceaccounts/a/token"}}) {
    const std::string reply = Exchange(server, method, root + path);
    EXPECT_THAT(reply, StartsWith("HTTP/1.1 501")) << path;
    EXPECT_THAT(reply, HasSubstr("this server ")) << path;
  }
  for (const char* path : {"pods/a/nothing", "nothing/a/log", "pods/a/b/log"}) {
    EXPECT_THAT(Exchange(server, "GET", root + path),
                StartsWith("HTTP/1.1 404"))
        << path;
  }
}

TEST(ServerTest, WarnsAboutKindsWithoutAController) {
  RunningServer server;
  EXPECT_THAT(Exchange(server, "POST", "/apis/batch/v1/namespaces/default/jobs",
                       R"({"metadata": {"name": "a"}})"),
              HasSubstr("Warning: 299 - \"this server only stores jobs.batch: "
                        "no controller makes pods for them\"\r\n"));
  EXPECT_THAT(Exchange(server, "POST", kPods, Pod("a")),
              Not(HasSubstr("Warning: ")));
}

TEST(ServerTest, CountsRequests) {
  RunningServer server;
  Exchange(server, "POST", kPods, Pod("a"));
  Exchange(server, "POST", kPods, Pod("a"));
  const std::string metrics = Exchange(server, "GET", "/metrics");
  const std::string labels =
      R"(,group="",resource="pods",scope="namespace",subresource="",)"
      R"(verb="CREATE",version="v1"} 1)";
  EXPECT_THAT(metrics,
              HasSubstr("apiserver_request_total{code=\"201\"" + labels));
  EXPECT_THAT(metrics,
              HasSubstr("apiserver_request_total{code=\"409\"" + labels));
  EXPECT_THAT(metrics, HasSubstr("apiserver_request_duration_seconds_bucket"));
  EXPECT_THAT(metrics, HasSubstr("minisched_client_requests_total{"));
}

TEST(ServerTest, RefusesRequestsThatAWebPageCanSend) {
  RunningServer server;
  for (const char* type : {"text/plain", "multipart/form-data",
                           "application/x-www-form-urlencoded"}) {
    EXPECT_THAT(Exchange(server, "POST", kPods, Pod("a"), type),
                StartsWith("HTTP/1.1 415"))
        << type;
  }
  EXPECT_THAT(Exchange(server, "POST", kPods, Pod("a"),
                       "\r\nOrigin: http://evil.example"),
              StartsWith("HTTP/1.1 415"));
}

TEST(ServerTest, AnswersMalformedRequestsWith4xx) {
  RunningServer server;
  Exchange(server, "POST", kPods, Pod("a"));
  const std::string deep = std::string(100'000, '[');
  const std::string pod = kPods + std::string("/a");
  const std::vector<std::array<std::string, 4>> requests = {
      {"POST", kPods, deep, "application/json"},
      {"POST", kPods, R"({"spec": )" + deep, "application/yaml"},
      {"POST", kPods, R"({"metadata": [], "spec": 7})", "application/json"},
      {"POST", kPods, R"({"metadata": {"labels": {"a": null}}})",
       "application/json"},
      {"POST", kPods, "k8s", "application/vnd.kubernetes.protobuf"},
      {"POST", kPods, std::string("k8s\0\xff\xff\xff\xff", 8),
       "application/vnd.kubernetes.protobuf"},
      {"POST", kPods, "\"\\ud800\"", "application/json"},
      {"POST", kPods, "{\"metadata\": {\"name\": \"\xff\"}}",
       "application/json"},
      {"POST", kPods, "a: &a [*a]", "application/yaml"},
      {"POST", kPods, "1e999", "application/json"},
      {"PATCH", pod, R"({"metadata": null})", "application/merge-patch+json"},
      {"PATCH", pod, "null", "application/merge-patch+json"},
      {"PATCH", pod, "[]", "application/strategic-merge-patch+json"},
      {"PATCH", pod, R"({"spec": {"containers": {"$patch": 1}}})",
       "application/strategic-merge-patch+json"},
      {"PATCH", pod, R"([{"op": "remove", "path": ""}])",
       "application/json-patch+json"},
      {"PATCH", pod, R"([{"op": "add", "path": "/a/b/c", "value": 1}])",
       "application/json-patch+json"},
      {"PATCH", pod, R"([{"op": "replace", "path": "", "value": 3}])",
       "application/json-patch+json"},
      {"PATCH", pod + "/status", R"({"status": {"conditions": "x"}})",
       "application/merge-patch+json"},
      {"GET", std::string(kPods) + "?labelSelector=(((", "", ""},
      {"GET", std::string(kPods) + "?fieldSelector=%5C", "", ""},
      {"GET", std::string(kPods) + "?continue=99999999999999999999:::", "", ""},
      {"GET", std::string(kPods) + "?timeoutSeconds=x&watch=1", "", ""},
      {"GET", "//api//v1//", "", ""},
      {"DELETE", pod, "[]", "application/json"},
      {"DELETE", pod, R"({"preconditions": 3})", "application/json"},
      {"POST", pod + "/binding", R"({"target": []})", "application/json"},
      {"POST", pod + "/eviction", R"({"deleteOptions": 1})",
       "application/json"},
  };
  for (const auto& [method, target, body, type] : requests) {
    EXPECT_THAT(Exchange(server, method, target, body, type),
                StartsWith("HTTP/1.1 4"))
        << method << " " << target << " " << body.substr(0, 60);
  }
  EXPECT_THAT(Exchange(server, "GET", pod), StartsWith("HTTP/1.1 200"));
}

// Returns the number of open files and connections of this process.
std::ptrdiff_t OpenFiles() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                       std::filesystem::directory_iterator());
}

TEST(ServerTest, RaisesTheLimitOnOpenFiles) {
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = 64;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  RunningServer server;
  std::vector<asio::ip::tcp::socket> idle;
  for (int i = 0; i < 100; ++i) idle.push_back(server.Connect());
  EXPECT_THAT(Exchange(server, "GET", kPods), StartsWith("HTTP/1.1 200"));
}

std::string PodWith(const std::string& name, const Json& unknown) {
  Json pod = Json::parse(Pod(name));
  pod["spec"].update(unknown);
  return pod.dump();
}

// The server's HTTP library, Beast, throws for header values of 64 KiB. By
// default, a parser of Beast accepts at most 8 KiB of headers.
TEST(ServerTest, LimitsTheLengthOfWarnings) {
  RunningServer server;
  const auto before = OpenFiles();
  Json many;
  for (int i = 0; i < 90'000; ++i) many["x" + std::to_string(i)] = 1;
  for (int i = 0; i < 20; ++i) {
    const std::string name = "a" + std::to_string(i);
    const Json unknown = i == 0 ? many : Json{{std::string(64 << 10, 'x'), 1}};
    const std::string answer =
        Exchange(server, "POST", kPods, PodWith(name, unknown));
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 201")) << i;
    EXPECT_THAT(answer, HasSubstr("Warning: 299 - \"unknown field"));
    EXPECT_LT(answer.find("\r\n\r\n"), 8000) << i;
  }
  // The server closes its end of a connection after the client has closed its
  // own. The client opened some files with its first connection, and keeps them
  // open.
  while (OpenFiles() > before + 10) std::this_thread::yield();
}

// Writes and lists pods at random, and starts watches, from which it reads
// little or nothing before it disconnects.
void Misbehave(RunningServer& server, unsigned seed) {
  std::mt19937 random(seed);
  const auto name = [&] { return "pod-" + std::to_string(random() % 20); };
  for (int i = 0; i < 100; ++i) {
    const std::string pod = kPods + ("/" + name());
    switch (random() % 6) {
      case 0:
        Exchange(server, "POST", kPods, Pod(name()));
        break;
      case 1:
        Exchange(server, "PATCH", pod,
                 R"({"metadata": {"labels": {"a": "b"}}})",
                 "application/merge-patch+json");
        break;
      case 2:
        Exchange(server, "DELETE", pod + "?gracePeriodSeconds=0");
        break;
      case 3:
        Exchange(server, "GET", kPods);
        break;
      default: {
        auto watcher = server.Connect();
        Send(watcher, "GET", kPods + std::string("?watch=true"), "");
        char some[512];
        boost::system::error_code ignored;
        if (random() % 2 == 0) watcher.read_some(asio::buffer(some), ignored);
      }
    }
  }
}

// Runs two servers in one process, to find state that they share.
TEST(ServerTest, ServesOthersAfterClientsThatMisbehave) {
  std::array<RunningServer, 2> servers;
  {
    std::vector<std::jthread> clients;
    for (unsigned seed = 0; seed < 8; ++seed) {
      clients.emplace_back(
          [&, seed] { Misbehave(servers.at(seed % servers.size()), seed); });
    }
  }
  for (RunningServer& server : servers) {
    EXPECT_THAT(Exchange(server, "GET", kPods), StartsWith("HTTP/1.1 200"));
  }
}

}  // namespace
}  // namespace minisched::apiserver
