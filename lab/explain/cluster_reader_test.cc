#include "lab/explain/cluster_reader.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "lab/explain/errors.h"
#include "lab/explain/kept_fields.h"
#include "testing/embedded_server.h"
#include "testing/http_server.h"

namespace minisched::explain {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

TEST(ClusterReaderTest, ReadsEveryKindButNoEndedPods) {
  std::string manifest =
      "{apiVersion: v1, kind: Node, metadata: {name: node-1}}\n";
  for (int i = 0; i < 1200; ++i) {  // three pages
    manifest +=
        "---\n{apiVersion: v1, kind: Pod, metadata: {namespace: "
        "kube-system, name: p" +
        std::to_string(i) + "}, spec: {containers: [{name: c, image: i}]}}\n";
  }
  EmbeddedServer server(manifest);
  Client client(server.config());
  client.Patch<Pod>("kube-system", "p0", PatchType::kMerge,
                    R"({"status": {"phase": "Succeeded"}})", "status");
  Objects objects;
  EXPECT_THAT(ReadCluster(client, objects, {}), IsEmpty());
  EXPECT_EQ(objects.Count("Pod"), 1199);
  EXPECT_EQ(objects.Count("Node"), 1);
  EXPECT_EQ(objects.Count("PriorityClass"), 2);
  ReadPods(client, {"default", "p0"}, objects, {});
  ReadPods(client, {"", "none"}, objects, {});
  EXPECT_EQ(objects.Count("Pod"), 1199);
  ReadPods(client, {"", "p0"}, objects, {});
  EXPECT_EQ(objects.pods().at({"kube-system", "p0"}).phase, "Succeeded");
}

// A server that refuses the first lists whose path contains a word.
class RefusingServer {
 public:
  RefusingServer(std::string word, int status, int times = 1000)
      : word_(std::move(word)), status_(status), times_(times) {}

  RestConfig config() const {
    RestConfig config{.server = server_.url(), .source = "the test"};
    config.qps = 0;
    return config;
  }
  std::vector<std::string> targets() const {
    std::vector<std::string> targets;
    for (const auto& request : server_.requests()) {
      targets.push_back(request.target);
    }
    return targets;
  }

 private:
  void Handle(const ServerRequest& request, ServerReply reply) {
    if (request.target.find(word_) != std::string::npos && times_-- > 0) {
      return reply.Send(
          status_, R"({"kind": "Status", "apiVersion": "v1", "message": "no",
                       "reason": "R", "code": )" +
                       std::to_string(status_) + "}");
    }
    reply.Send(200, R"({"kind": "List", "apiVersion": "v1", "items": []})");
  }

  const std::string word_;
  const int status_;
  int times_;
  HttpServer server_{[this](const ServerRequest& request, ServerReply reply) {
    Handle(request, std::move(reply));
  }};
};

std::vector<std::string> WarningsOf(const RefusingServer& server) {
  Client client(server.config());
  Objects objects;
  return ReadCluster(client, objects, {});
}

std::string ErrorOf(const RefusingServer& server) {
  try {
    WarningsOf(server);
  } catch (const CannotTell& error) {
    return error.what();
  }
  return "no error";
}

TEST(ClusterReaderTest, WarnsAboutKindsThatItMayNotList) {
  RefusingServer server("storageclasses", 403);
  EXPECT_THAT(WarningsOf(server),
              ElementsAre(HasSubstr("cannot list storageclasses.storage.k8s.io:"
                                    " no: the answer leaves them out")));
}

TEST(ClusterReaderTest, NeedsNodesAndPods) {
  EXPECT_THAT(ErrorOf(RefusingServer("/nodes", 403)),
              HasSubstr("cannot list nodes: no: ask for the rights of "
                        "docs/reference/explain.md"));
  EXPECT_THAT(ErrorOf(RefusingServer("/pods", 403)),
              HasSubstr("cannot list pods"));
}

TEST(ClusterReaderTest, KindsThatTheServerLacksAreNoWarning) {
  EXPECT_THAT(WarningsOf(RefusingServer("resource.k8s.io", 404)), IsEmpty());
}

TEST(ClusterReaderTest, RefusedCredentialsAreAnError) {
  RefusingServer server("/", 401);
  EXPECT_THAT(ErrorOf(server),
              HasSubstr("refuses the credentials of the test: no: log in again,"
                        " or pass another --kubeconfig"));
}

TEST(ClusterReaderTest, ExpiredListsAreAnErrorAtLast) {
  RefusingServer server("/nodes", 410);
  EXPECT_THAT(ErrorOf(server), HasSubstr("cannot list nodes: no"));
}

TEST(ClusterReaderTest, AnExpiredListBeginsAgain) {
  RefusingServer server("/nodes", 410, /*times=*/1);
  EXPECT_THAT(WarningsOf(server), IsEmpty());
  EXPECT_EQ(server.targets().size(), KeptKinds().size() + 1);
}

// Returns a page of a list that has one node.
std::string Page(const std::string& node, const std::string& next) {
  const nlohmann::json object = {
      {"apiVersion", "v1"}, {"kind", "Node"}, {"metadata", {{"name", node}}}};
  const nlohmann::json list = {{"apiVersion", "v1"},
                               {"kind", "NodeList"},
                               {"metadata", {{"continue", next}}},
                               {"items", {object}}};
  return list.dump();
}

// Between two pages, the server drops the state of the list, and a node goes.
TEST(ClusterReaderTest, AListThatExpiresOnALaterPageBeginsAgain) {
  bool is_expired = false;
  HttpServer server([&](const ServerRequest& request, ServerReply reply) {
    const auto has = [&](const char* word) {
      return request.target.find(word) != std::string::npos;
    };
    if (!has("/nodes")) return reply.Send(200, R"({"kind": "List"})");
    if (!has("continue=")) {
      return reply.Send(200, Page(is_expired ? "node-1" : "gone", "next"));
    }
    if (std::exchange(is_expired, true)) {
      return reply.Send(200, Page("node-2", ""));
    }
    reply.Send(410, R"({"kind": "Status", "code": 410, "reason": "Expired"})");
  });
  RestConfig config{.server = server.url(), .source = "the test"};
  Client client(config);
  Objects objects;
  EXPECT_THAT(ReadCluster(client, objects, {}), IsEmpty());
  std::vector<std::string> nodes;
  for (const auto& manifest : objects.SelectFor({"a", "web"}, "").manifests) {
    const auto object = nlohmann::json::parse(manifest.json);
    if (object["kind"] == "Node") nodes.push_back(object["metadata"]["name"]);
  }
  EXPECT_THAT(nodes, ElementsAre("node-1", "node-2"));
}

// A real server refuses such a field selector.
TEST(ClusterReaderTest, SendsNoRequestForAnInvalidPodName) {
  RefusingServer server("none", 500);
  Client client(server.config());
  Objects objects;
  for (const char* name : {"web=x", "web,db", "Web", ""}) {
    ReadPods(client, {"", name}, objects, {});
  }
  ReadPods(client, {"a/b", "web"}, objects, {});
  EXPECT_THAT(server.targets(), IsEmpty());
  ReadPods(client, {"a", "web.db-1"}, objects, {});
  EXPECT_EQ(server.targets().size(), 1);
}

TEST(ClusterReaderTest, SendsListsInPagesOnly) {
  RefusingServer server("none", 500);
  EXPECT_THAT(WarningsOf(server), IsEmpty());
  EXPECT_EQ(server.targets().size(), KeptKinds().size());
  for (const std::string& target : server.targets()) {
    EXPECT_THAT(target, StartsWith("/api"));
    EXPECT_THAT(target, HasSubstr("limit=500"));
    for (const char* kind : {"secrets", "configmaps", "events"}) {
      EXPECT_EQ(target.find(kind), std::string::npos) << target;
    }
  }
}

}  // namespace
}  // namespace minisched::explain
