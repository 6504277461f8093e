#include "lab/scenario/cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "testing/http_server.h"

namespace minisched::scenario {
namespace {

using Json = nlohmann::json;

constexpr char kResources[] = R"({"resources":[
    {"name":"pods/binding","kind":"Pod","namespaced":true},
    {"name":"pods","kind":"Pod","namespaced":true},
    {"name":"nodes","kind":"Node","namespaced":false}]})";

const Manifest kPod{.json = R"({"spec":{"schedulerName":"minisched"}})",
                    .api_version = "v1",
                    .kind = "Pod",
                    .name = "p"};

RestConfig ConfigFor(const HttpServer& server, const std::string& source = "") {
  RestConfig config;
  config.server = server.url();
  config.source = source;
  return config;
}

// Returns a handler that answers /version and /api/v1, and passes other
// requests to `handler`.
HttpServer::Handler With(HttpServer::Handler handler) {
  return [handler = std::move(handler)](const ServerRequest& request,
                                        ServerReply reply) {
    if (request.target == "/version") {
      reply.Send(200, R"({"gitVersion":"v1.37.0"})");
    } else if (request.target == "/api/v1") {
      reply.Send(200, kResources);
    } else {
      handler(request, std::move(reply));
    }
  };
}

std::string Status(int code, const std::string& reason,
                   const std::string& message = "m") {
  return Json({{"kind", "Status"},
               {"status", "Failure"},
               {"code", code},
               {"reason", reason},
               {"message", message}})
      .dump();
}

TEST(ClusterTest, CreateAcceptsAlreadyExistsAfterALostResponse) {
  int attempts = 0;
  HttpServer server(With([&](const ServerRequest&, ServerReply reply) {
    if (++attempts < 3) {
      reply.Reset();
    } else {
      reply.Send(409, Status(409, "AlreadyExists"));
    }
  }));
  Cluster cluster(ConfigFor(server), {});
  EXPECT_EQ(cluster.Create(kPod, "ns", "minisched", {}), "");
  EXPECT_EQ(attempts, 3);
  // Without a lost response, AlreadyExists means that another client has
  // created the pod.
  EXPECT_THROW(cluster.Create(kPod, "ns", "minisched", {}), ApiError);
}

TEST(ClusterTest, DeleteOneAcceptsNotFoundAfterALostResponse) {
  int attempts = 0;
  HttpServer server(With([&](const ServerRequest&, ServerReply reply) {
    if (++attempts < 2) {
      reply.Reset();
    } else {
      reply.Send(404, Status(404, "NotFound"));
    }
  }));
  Cluster cluster(ConfigFor(server), {});
  cluster.DeleteOne({.kind = "Node", .name = "n"}, "", {});
  EXPECT_EQ(attempts, 2);
}

TEST(ClusterTest, CreateWaitsForTheServiceAccountOfANewNamespace) {
  int attempts = 0;
  HttpServer server(With([&](const ServerRequest&, ServerReply reply) {
    if (++attempts < 3) {
      reply.Send(403, Status(403, "Forbidden",
                             "error looking up service account ns/default"));
    } else {
      reply.Send(201, R"({"metadata":{"uid":"u"}})");
    }
  }));
  Cluster cluster(ConfigFor(server), {});
  EXPECT_EQ(cluster.Create(kPod, "ns", "mine", {}), "u");
  const ServerRequest last = server.requests().back();
  EXPECT_EQ(last.target, "/api/v1/namespaces/ns/pods");
  EXPECT_EQ(last.body, R"({"spec":{"schedulerName":"mine"}})");
}

TEST(ClusterTest, RecognisesTestClustersByTheirContext) {
  HttpServer server(With([](const ServerRequest&, ServerReply) {}));
  const auto is_test_cluster = [&](const std::string& source) {
    return Cluster(ConfigFor(server, source), {}).IsTestCluster();
  };
  EXPECT_TRUE(is_test_cluster("context \"minisched-real\" of /a/kubeconfig"));
  EXPECT_TRUE(is_test_cluster("context \"kind-minisched\" of /a/kubeconfig"));
  EXPECT_FALSE(is_test_cluster("context \"kind-kind\" of /minisched-real"));
  EXPECT_FALSE(is_test_cluster(""));
  HttpServer embedded([](const ServerRequest&, ServerReply reply) {
    reply.Send(200, R"({"gitVersion":"v1.37.2+minisched"})");
  });
  const Cluster cluster(ConfigFor(embedded), {});
  EXPECT_TRUE(cluster.IsEmbedded());
  EXPECT_TRUE(cluster.IsTestCluster());
}

TEST(ClusterTest, StopInterruptsRetries) {
  std::stop_source stop;
  HttpServer server(With([&](const ServerRequest&, ServerReply reply) {
    reply.Reset();
    stop.request_stop();
  }));
  Cluster cluster(ConfigFor(server), {});
  EXPECT_THROW(cluster.Create(kPod, "ns", "minisched", stop.get_token()),
               Cancelled);
}

}  // namespace
}  // namespace minisched::scenario
