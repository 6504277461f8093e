#include "lab/live/api_proxy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <nlohmann/json.hpp>
#include <string>

#include "minisched/api/yaml.h"
#include "testing/embedded_server.h"
#include "testing/scripted_api.h"

namespace minisched::live {
namespace {

using Json = nlohmann::json;
using http::Reply;
using http::Request;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(ApiPathTest, AllowsTheTenKinds) {
  const std::pair<const char*, const char*> allowed[] = {
      {"GET", "/api/v1/nodes"},
      {"GET", "/api/v1/nodes/node-1"},
      {"GET", "/api/v1/nodes/a.b-c"},
      {"POST", "/api/v1/nodes"},
      {"PUT", "/api/v1/nodes/n"},
      {"DELETE", "/api/v1/nodes/n"},
      {"GET", "/api/v1/pods"},
      {"GET", "/api/v1/namespaces/default/pods"},
      {"POST", "/api/v1/namespaces/default/pods"},
      {"DELETE", "/api/v1/namespaces/default/pods/web"},
      {"GET", "/api/v1/namespaces"},
      {"GET", "/api/v1/namespaces/default"},
      {"POST", "/api/v1/namespaces"},
      {"GET", "/api/v1/persistentvolumes"},
      {"GET", "/api/v1/namespaces/default/persistentvolumeclaims/c"},
      {"GET", "/apis/storage.k8s.io/v1/storageclasses"},
      {"PUT", "/apis/scheduling.k8s.io/v1/priorityclasses/high"},
      {"GET", "/apis/apps/v1/deployments"},
      {"PUT", "/apis/apps/v1/namespaces/default/deployments/web"},
      {"GET", "/apis/apps/v1/namespaces/default/replicasets"},
      {"GET", "/apis/policy/v1/namespaces/default/poddisruptionbudgets/b"},
      {"GET", "/api/v1/events"},
      {"GET", "/api/v1/namespaces/default/events"}};
  for (const auto& [method, path] : allowed) {
    EXPECT_EQ(ApiPath(method, path), path) << method;
  }
}

TEST(ApiPathTest, RefusesEverythingElse) {
  const std::pair<const char*, const char*> refused[] = {
      {"GET", ""},
      {"GET", "/"},
      {"GET", "/version"},
      {"GET", "/api"},
      {"GET", "/api/v1"},
      {"GET", "/apis/apps/v1"},
      {"GET", "/api/v1/secrets"},
      {"GET", "/api/v1/namespaces/default/secrets"},
      {"GET", "/api/v1/namespaces/default/secrets/s"},
      {"GET", "/api/v1/namespaces/default/configmaps"},
      {"GET", "/api/v1/namespaces/default/serviceaccounts"},
      {"GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles"},
      {"GET", "/apis/coordination.k8s.io/v1/leases"},
      {"GET", "/apis/apps/v1beta1/deployments"},
      {"GET", "/api/v1/deployments"},
      {"GET", "/apis/apps/v1/pods"},
      // Subresources.
      {"GET", "/api/v1/namespaces/default/pods/web/log"},
      {"POST", "/api/v1/namespaces/default/pods/web/binding"},
      {"POST", "/api/v1/namespaces/default/pods/web/eviction"},
      {"PUT", "/api/v1/nodes/n/status"},
      {"GET", "/api/v1/nodes/n/proxy"},
      {"PUT", "/api/v1/namespaces/default/finalize"},
      // Paths that another reader could take for others.
      {"GET", "/api/v1/nodes/"},
      {"GET", "/api/v1//nodes"},
      {"GET", "//api/v1/nodes"},
      {"GET", "/api/v1/nodes/.."},
      {"GET", "/api/v1/nodes/../secrets"},
      {"GET", "/api/v1/namespaces/../pods"},
      {"GET", "/api/v1/namespaces/default/pods/.."},
      {"GET", "/api/v1/nodes/a%2fb"},
      {"GET", "/api/v1/nodes/a b"},
      {"GET", "/api/v1/nodes/a?b"},
      {"GET", "/api/v1/nodes/<b>"},
      {"GET", "/api/v1/pods/web"},  // without a namespace
      {"GET", "/api/v1/namespaces/default/nodes/n"},
      {"POST", "/api/v1/nodes/n"},
      {"PUT", "/api/v1/nodes"},
      {"DELETE", "/api/v1/nodes"},  // a whole collection
      {"DELETE", "/api/v1/namespaces/default/pods"},
      {"POST", "/api/v1/namespaces/default/events"},
      {"DELETE", "/api/v1/namespaces/default/events/e"}};
  for (const auto& [method, path] : refused) {
    EXPECT_EQ(ApiPath(method, path), std::nullopt) << method << " " << path;
  }
}

// Passes a request on and waits for the reply.
Reply Pass(Client& client, const Request& request) {
  std::promise<Reply> promise;
  PassToApi(client, request,
            [&](Reply reply) { promise.set_value(std::move(reply)); });
  return promise.get_future().get();
}

Request YamlRequest(const std::string& method, const std::string& path,
                    const std::string& body) {
  return {.method = method,
          .path = path,
          .headers = {{"content-type", "application/yaml"}},
          .body = body};
}

class ApiProxyTest : public ::testing::Test {
 protected:
  static constexpr const char* kPods = "/api/v1/namespaces/default/pods";

  EmbeddedServer server_{R"(
apiVersion: v1
kind: Node
metadata: {name: n1, annotations: {a: "<b>"}}
)"};
  Client client_{server_.config()};
};

TEST_F(ApiProxyTest, ReadsAsJsonAndAsYaml) {
  const Reply json =
      Pass(client_, {.method = "GET", .path = "/api/v1/nodes/n1"});
  EXPECT_EQ(json.status, 200);
  EXPECT_EQ(json.content_type, "application/json");
  const Json node = Json::parse(json.body);
  EXPECT_EQ(node["metadata"]["annotations"]["a"], "<b>");
  const Reply yaml =
      Pass(client_, {.method = "GET",
                     .path = "/api/v1/nodes/n1",
                     .headers = {{"accept", "application/yaml"}}});
  EXPECT_THAT(yaml.content_type, StartsWith("application/yaml"));
  EXPECT_THAT(yaml.body, HasSubstr("\n  name: n1\n"));
  EXPECT_EQ(Json::parse(YamlToJson(yaml.body).at(0)), node);
}

TEST_F(ApiProxyTest, ReadsTables) {
  const Reply reply =
      Pass(client_, {.method = "GET",
                     .path = "/api/v1/nodes",
                     .headers = {{"accept",
                                  "application/json;as=Table;v=v1;"
                                  "g=meta.k8s.io,application/json"}}});
  EXPECT_EQ(Json::parse(reply.body)["kind"], "Table");
}

TEST_F(ApiProxyTest, CreatesChangesAndDeletesWithYaml) {
  const Reply created = Pass(client_, YamlRequest("POST", kPods, R"(
kind: Pod
apiVersion: v1
metadata: {name: web}
spec: {schedulerName: x, containers: [{name: c, image: i}]}
)"));
  EXPECT_EQ(created.status, 201) << created.body;
  const std::string path = std::string(kPods) + "/web";
  const Reply read =
      Pass(client_, {.method = "GET",
                     .path = path,
                     .headers = {{"accept", "application/yaml"}}});
  std::string yaml = read.body;
  yaml.replace(yaml.find("metadata:\n"), 10, "metadata:\n  labels: {a: b}\n");
  const Reply changed = Pass(client_, YamlRequest("PUT", path, yaml));
  EXPECT_EQ(changed.status, 200) << changed.body;
  EXPECT_EQ(Json::parse(changed.body)["metadata"]["labels"]["a"], "b");
  const Reply deleted =
      Pass(client_, {.method = "DELETE",
                     .path = path,
                     .query = {{"gracePeriodSeconds", "0"},
                               {"propagationPolicy", "Background"}}});
  EXPECT_EQ(deleted.status, 200);
  EXPECT_EQ(Pass(client_, {.method = "GET", .path = path}).status, 404);
}

TEST_F(ApiProxyTest, ReturnsTheStatusOfARefusedObject) {
  const Reply reply = Pass(client_, YamlRequest("POST", kPods, R"(
kind: Pod
apiVersion: v1
metadata: {name: web}
)"));
  EXPECT_EQ(reply.status, 422);
  const Json status = Json::parse(reply.body);
  EXPECT_EQ(status["kind"], "Status");
  EXPECT_THAT(status["message"], HasSubstr("spec.containers: Required value"));
  EXPECT_EQ(status["details"]["causes"][0]["field"], "spec.containers");
}

TEST_F(ApiProxyTest, MalformedYamlHasALineAndAColumn) {
  const Reply reply = Pass(client_, YamlRequest("POST", kPods, "a: 1\n b: 2"));
  EXPECT_EQ(reply.status, 400);
  EXPECT_EQ(Json::parse(reply.body),
            Json::parse(R"({"error": "line 2, column 3: illegal map value",
                            "line": 2, "column": 3})"));
  const Reply two =
      Pass(client_, YamlRequest("POST", kPods, "a: 1\n---\nb: 2"));
  EXPECT_EQ(two.status, 400);
  EXPECT_THAT(two.body, HasSubstr("expected one YAML document, found 2"));
}

TEST_F(ApiProxyTest, PassesOnlyKnownParameters) {
  const Reply selected =
      Pass(client_, {.method = "GET",
                     .path = "/api/v1/nodes",
                     .query = {{"fieldSelector", "metadata.name=other"}}});
  EXPECT_EQ(Json::parse(selected.body)["items"], Json::array());
  for (const char* name : {"watch", "dryRun", "fieldManager", "pretty", "x"}) {
    const Reply reply = Pass(
        client_,
        {.method = "GET", .path = "/api/v1/nodes", .query = {{name, "true"}}});
    EXPECT_EQ(reply.status, 400) << name;
    EXPECT_THAT(reply.body, HasSubstr(name));
  }
}

TEST_F(ApiProxyTest, RefusesOtherRequests) {
  for (const char* method : {"PATCH", "HEAD", "OPTIONS"}) {
    EXPECT_EQ(
        Pass(client_, {.method = method, .path = "/api/v1/nodes/n1"}).status,
        404);
  }
  const Reply reply =
      Pass(client_, {.method = "GET", .path = "/api/v1/secrets"});
  EXPECT_EQ(reply.status, 404);
  EXPECT_THAT(Json::parse(reply.body)["error"], HasSubstr("/api/v1/secrets"));
}

TEST(ApiProxyFailureTest, AnUnreachableServerIsABadGateway) {
  Client client({.server = "http://127.0.0.1:1"});
  const Reply reply = Pass(client, {.method = "GET", .path = "/api/v1/nodes"});
  EXPECT_EQ(reply.status, 502);
  EXPECT_THAT(Json::parse(reply.body)["error"], HasSubstr("127.0.0.1:1"));
}

// The names of a cluster are not trusted.
TEST(ApiProxyFailureTest, AServersMessageStaysData) {
  ScriptedApi api;
  Client client(api.config());
  auto reply = std::async(std::launch::async, [&] {
    return Pass(client, {.method = "GET", .path = "/api/v1/nodes"});
  });
  api.Take().reply.Send(
      403, R"({"kind":"Status","code":403,"message":"<script>\n"})");
  const Reply refused = reply.get();
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(refused.content_type, "application/json");
  EXPECT_EQ(Json::parse(refused.body)["message"], "<script>\n");
}

}  // namespace
}  // namespace minisched::live
