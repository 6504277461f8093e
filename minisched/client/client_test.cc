#include "minisched/client/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "minisched/api/node.h"
#include "minisched/client/client_testing.h"
#include "testing/http_server.h"

namespace minisched {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr char kPod[] =
    R"({"kind": "Pod", "metadata": {"namespace": "ns", "name": "web"}})";

// A client of a server that gives every request the same response.
class ClientTest : public testing::Test {
 protected:
  std::string Target(std::size_t request = 0) const {
    return server_.requests().at(request).target;
  }
  std::string Header(const std::string& name) const {
    const auto headers = server_.requests().at(0).headers;
    const auto header = headers.find(name);
    return header == headers.end() ? "none" : header->second;
  }

  int status_ = 200;
  std::string answer_ = kPod;
  ServerHeaders headers_;
  HttpServer server_{[this](const ServerRequest&, ServerReply reply) {
    reply.Send(status_, answer_, headers_);
  }};
  RestConfig config_ = ConfigFor(server_.url());
};

// Requests.

TEST_F(ClientTest, GetsAnObject) {
  Client client(config_);
  EXPECT_EQ(client.Get<Pod>("ns", "web")->metadata.name, "web");
  const ServerRequest request = server_.requests().at(0);
  EXPECT_EQ(request.method, "GET");
  EXPECT_EQ(request.target, "/api/v1/namespaces/ns/pods/web");
  EXPECT_EQ(request.body, "");
  EXPECT_EQ(Header("accept"), "application/json");
  EXPECT_EQ(Header("user-agent"), "minisched");
  EXPECT_EQ(Header("content-type"), "none");
  EXPECT_EQ(Header("authorization"), "none");
}

TEST_F(ClientTest, GetsAnObjectWithoutANamespace) {
  answer_ = R"({"metadata": {"name": "n"}})";
  Client client(config_);
  EXPECT_EQ(client.Get<Node>("", "n")->metadata.name, "n");
  EXPECT_EQ(Target(), "/api/v1/nodes/n");
}

TEST_F(ClientTest, CreatesAnObject) {
  Client client(config_);
  Pod pod;
  pod.metadata.namespace_name = "ns";
  pod.metadata.name = "new";
  EXPECT_EQ(client.Create(pod)->metadata.name, "web");
  const ServerRequest request = server_.requests().at(0);
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.target, "/api/v1/namespaces/ns/pods");
  EXPECT_EQ(request.body, ToJson(pod));
  EXPECT_EQ(Header("content-type"), "application/json");
}

TEST_F(ClientTest, UpdatesAnObject) {
  Client client(config_);
  Pod pod;
  pod.metadata.namespace_name = "ns";
  pod.metadata.name = "old";
  pod.metadata.resource_version = "7";
  EXPECT_EQ(client.Update(pod)->metadata.name, "web");
  const ServerRequest request = server_.requests().at(0);
  EXPECT_EQ(request.method, "PUT");
  EXPECT_EQ(request.target, "/api/v1/namespaces/ns/pods/old");
  EXPECT_EQ(request.body, ToJson(pod));
  EXPECT_EQ(Header("content-type"), "application/json");
}

TEST_F(ClientTest, ReportsTheConflictOfAnUpdate) {
  status_ = 409;
  answer_ = R"({"code": 409, "reason": "Conflict", "message": "modified"})";
  Client client(config_);
  Pod pod;
  pod.metadata.namespace_name = "ns";
  pod.metadata.name = "web";
  EXPECT_EQ(OutcomeOf([&] { client.Update(pod); }).message, "modified");
  EXPECT_EQ(server_.requests().size(), 1);
}

TEST_F(ClientTest, PatchesAnObject) {
  Client client(config_);
  client.Patch<Pod>("ns", "web", PatchType::kMerge, "{}");
  client.Patch<Pod>("ns", "web", PatchType::kStrategicMerge, "{}", "status");
  client.Patch<Pod>("ns", "web", PatchType::kJson, "[]");
  std::vector<std::string> types;
  for (const ServerRequest& request : server_.requests()) {
    EXPECT_EQ(request.method, "PATCH");
    types.push_back(request.headers.at("content-type"));
  }
  EXPECT_THAT(types, ElementsAre("application/merge-patch+json",
                                 "application/strategic-merge-patch+json",
                                 "application/json-patch+json"));
  EXPECT_EQ(Target(0), "/api/v1/namespaces/ns/pods/web");
  EXPECT_EQ(Target(1), "/api/v1/namespaces/ns/pods/web/status");
  EXPECT_EQ(server_.requests().at(2).body, "[]");
}

TEST_F(ClientTest, DeletesAnObject) {
  Client client(config_);
  client.Delete<Pod>("ns", "web");
  client.Delete<Pod>("ns", "web", {.grace_period_seconds = 0, .uid = "u"});
  client.Delete<Pod>("ns", "web", {.grace_period_seconds = 0});
  client.Delete<Pod>("ns", "web", {.uid = "u"});
  const auto requests = server_.requests();
  EXPECT_EQ(requests.at(0).method, "DELETE");
  EXPECT_EQ(requests.at(0).target, "/api/v1/namespaces/ns/pods/web");
  EXPECT_EQ(requests.at(0).body, "");
  EXPECT_EQ(requests.at(1).body,
            R"({"gracePeriodSeconds":0,"preconditions":{"uid":"u"}})");
  EXPECT_EQ(requests.at(2).body, R"({"gracePeriodSeconds":0})");
  EXPECT_EQ(requests.at(3).body, R"({"preconditions":{"uid":"u"}})");
}

TEST_F(ClientTest, BindsAPod) {
  answer_ = R"({"kind": "Status", "status": "Success"})";
  Client client(config_);
  Binding binding;
  binding.metadata.namespace_name = "ns";
  binding.metadata.name = "web";
  binding.metadata.uid = "u";
  binding.target.name = "n";
  client.Bind(binding);
  const ServerRequest request = server_.requests().at(0);
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.target, "/api/v1/namespaces/ns/pods/web/binding");
  EXPECT_EQ(request.body, ToJson(binding));
}

TEST_F(ClientTest, ReturnsTheServersVersion) {
  answer_ = R"({"major": "1", "gitVersion": "v1.37.2"})";
  Client client(config_);
  EXPECT_EQ(client.ServerVersion(), "v1.37.2");
  EXPECT_EQ(Target(), "/version");
}

TEST_F(ClientTest, ListsWithSelectors) {
  answer_ = "{}";
  Client client(config_);
  client.List<Pod>();
  client.List<Pod>({.namespace_name = "ns",
                    .label_selector = "app in (a,b)",
                    .field_selector = "spec.nodeName=",
                    .limit = 0});
  EXPECT_EQ(Target(0), "/api/v1/pods?limit=500");
  EXPECT_EQ(Target(1),
            "/api/v1/namespaces/ns/pods?labelSelector=app%20in%20%28a%2Cb%29"
            "&fieldSelector=spec.nodeName%3D");
}

TEST_F(ClientTest, SendsTokenAndUserAgent) {
  config_.user_agent = "minisched-04/1.0";
  config_.bearer_token = "secret";
  Client client(config_);
  client.Get<Pod>("ns", "web");
  EXPECT_EQ(Header("user-agent"), "minisched-04/1.0");
  EXPECT_EQ(Header("authorization"), "Bearer secret");
}

TEST_F(ClientTest, ReadsARotatedTokenAgain) {
  const std::string file = testing::TempDir() + "client_test.token." +
                           std::to_string(server_.port());
  const auto rotate = [&](const std::string& token) {
    std::ofstream(file + ".new") << token;
    std::filesystem::rename(file + ".new", file);
  };
  config_.bearer_token = "unused";
  config_.bearer_token_file = file;
  Client client(config_);

  std::vector<std::string> seen;
  for (const std::string token :
       {"one", "two\n", "", "half written", "three"}) {
    rotate(token);
    client.Get<Pod>("ns", "web");
    seen.push_back(server_.requests().back().headers.at("authorization"));
  }
  std::filesystem::remove(file);
  client.Get<Pod>("ns", "web");
  seen.push_back(server_.requests().back().headers.at("authorization"));
  EXPECT_THAT(seen, ElementsAre("Bearer one", "Bearer two", "Bearer two",
                                "Bearer two", "Bearer three", "Bearer three"));
}

TEST_F(ClientTest, UsesTheTokenUntilItsFileExists) {
  config_.bearer_token = "first";
  config_.bearer_token_file = "/nonexistent/token";
  Client client(config_);
  client.Get<Pod>("ns", "web");
  EXPECT_EQ(Header("authorization"), "Bearer first");
}

// In a header, each of these would be a different token, or another header.
TEST_F(ClientTest, RefusesATokenFileThatHoldsNoToken) {
  const std::string file = testing::TempDir() + "client_test.no_token." +
                           std::to_string(server_.port());
  config_.bearer_token_file = file;
  Client client(config_);
  for (const std::string text :
       {"two words", "two\nlines", "\x7f", "\xc3\xa4"}) {
    std::ofstream(file) << text;
    const Outcome outcome = OutcomeOf([&] { client.Get<Pod>("ns", "web"); });
    EXPECT_EQ(outcome.kind, "ConfigError") << text;
    EXPECT_THAT(outcome.message, HasSubstr(file + " is not a token"));
    EXPECT_THAT(outcome.message, Not(HasSubstr(text)));
  }
  std::filesystem::remove(file);
  EXPECT_EQ(server_.requests().size(), 0);
}

TEST_F(ClientTest, FailsWithoutTheTokenFile) {
  config_.bearer_token_file = "/nonexistent/token";
  Client client(config_);
  const Outcome outcome = OutcomeOf([&] { client.Get<Pod>("ns", "web"); });
  EXPECT_EQ(outcome.kind, "ConfigError");
  EXPECT_THAT(outcome.message, HasSubstr("/nonexistent/token"));
  EXPECT_EQ(server_.requests().size(), 0);
}

TEST_F(ClientTest, RefusesNamesThatWouldChangeTheUrl) {
  Client client(config_);
  for (const std::string name : {"", ".", "..", "a/b", "a%2fb"}) {
    EXPECT_EQ(OutcomeOf([&] { client.Get<Pod>("ns", name); }).message,
              "invalid resource name \"" + name + "\"");
    EXPECT_EQ(OutcomeOf([&] { client.Get<Pod>(name, "web"); }).message,
              "invalid namespace name \"" + name + "\"");
    EXPECT_EQ(OutcomeOf([&] { client.Delete<Pod>("ns", name); }).kind,
              "invalid_argument");
    EXPECT_EQ(OutcomeOf([&] {
                client.Patch<Pod>("ns", name, PatchType::kMerge, "{}");
              }).kind,
              "invalid_argument");
    Binding binding;
    binding.metadata.namespace_name = "ns";
    binding.metadata.name = name;
    EXPECT_EQ(OutcomeOf([&] { client.Bind(binding); }).kind,
              "invalid_argument");
    if (name.empty()) continue;  // means all namespaces
    EXPECT_EQ(
        OutcomeOf([&] { client.List<Pod>({.namespace_name = name}); }).kind,
        "invalid_argument");
    EXPECT_EQ(
        OutcomeOf([&] { client.Watch<Pod>({.namespace_name = name}); }).kind,
        "invalid_argument");
  }
  EXPECT_EQ(server_.requests().size(), 0);
}

TEST_F(ClientTest, EncodesNames) {
  Client client(config_);
  client.Get<Pod>("ns", "a?b#c d");
  EXPECT_EQ(Target(), "/api/v1/namespaces/ns/pods/a%3Fb%23c%20d");
}

TEST_F(ClientTest, ServesManyThreads) {
  Client client(config_);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        for (int j = 0; j < 50; ++j) {
          EXPECT_EQ(client.Get<Pod>("ns", "web")->metadata.name, "web");
        }
      });
    }
  }
  EXPECT_EQ(server_.requests().size(), 400);
  EXPECT_LE(server_.accepted_connections(), 8);
}

// Refusals, and responses that are not the Kubernetes API's.

TEST_F(ClientTest, AStatusBecomesAnApiError) {
  status_ = 409;
  answer_ = R"({"kind": "Status", "status": "Failure", "code": 409,
                "message": "pods \"web\" already exists",
                "reason": "AlreadyExists", "details": {"name": "web"}})";
  Client client(config_);
  try {
    client.Get<Pod>("ns", "web");
    FAIL();
  } catch (const ApiError& error) {
    EXPECT_STREQ(error.what(), "pods \"web\" already exists");
    EXPECT_EQ(error.code(), 409);
    EXPECT_EQ(error.reason(), "AlreadyExists");
    EXPECT_EQ(error.status().details.name, "web");
  }
}

struct Oddity {
  int status;
  const char* body;
  const char* reason;
  const char* message;
};

class ClientOddityTest : public testing::TestWithParam<Oddity> {};

TEST_P(ClientOddityTest, BecomesAnApiError) {
  HttpServer server([](const ServerRequest&, ServerReply reply) {
    reply.Send(GetParam().status, GetParam().body,
               {{"Content-Type", "text/html; charset=iso-8859-1"}});
  });
  Client client(ConfigFor(server.url()));
  try {
    client.List<Pod>();
    FAIL();
  } catch (const ApiError& error) {
    EXPECT_STREQ(error.what(), GetParam().message);
    EXPECT_EQ(error.code(), GetParam().status);
    EXPECT_EQ(error.reason(), GetParam().reason);
  }
}

INSTANTIATE_TEST_SUITE_P(
    , ClientOddityTest,
    testing::Values(
        Oddity{502, "<html>\n<h1>Bad Gateway</h1>\n", "Unknown",
               "the server answered 502: <html>"},
        Oddity{401, "", "Unauthorized", "the server answered 401"},
        Oddity{404, "404 page not found\r\n", "NotFound",
               "the server answered 404: 404 page not found"},
        Oddity{302, "", "Unknown", "the server answered 302"},
        Oddity{403, "[1, 2]", "Forbidden", "the server answered 403: [1, 2]"},
        Oddity{500, R"({"message": "broken"})", "InternalError", "broken"},
        // The code is that of the status line, not of the body.
        Oddity{503, R"({"code": 200, "message": "m"})", "ServiceUnavailable",
               "m"}));

TEST_F(ClientTest, ASuccessThatIsNotJsonIsAProtocolError) {
  Client client(config_);
  for (const std::string body :
       {"<html>", "", "{\"metadata\": {", "[]", R"({"metadata": {"name": 1}})",
        R"({"kind": "Node"})"}) {
    answer_ = body;
    const Outcome outcome = OutcomeOf([&] { client.Get<Pod>("ns", "web"); });
    EXPECT_EQ(outcome.kind, "kProtocol") << body << ": " << outcome;
    EXPECT_THAT(outcome.message, HasSubstr(server_.url() + ": "));
  }
}

// Pages.

std::string Page(const std::string& name, const std::string& token) {
  return R"({"kind": "PodList", "metadata": {"resourceVersion": "7",)"
         R"("continue": ")" +
         token + R"("}, "items": [{"metadata": {"name": ")" + name +
         R"("}}, {"metadata": {"name": 1}}]})";
}

TEST(ClientListTest, ReadsPageByPage) {
  HttpServer server([](const ServerRequest& request, ServerReply reply) {
    if (request.target.ends_with("continue=a%2Bb%3D")) {
      reply.Send(200, Page("second", "c"));
    } else if (request.target.ends_with("continue=c")) {
      reply.Send(200, Page("third", ""));
    } else {
      reply.Send(200, Page("first", "a+b="));
    }
  });
  Client client(ConfigFor(server.url()));
  const auto list = client.List<Pod>({.label_selector = "x", .limit = 1});
  ASSERT_EQ(list.items.size(), 3);
  EXPECT_EQ(list.items[0]->metadata.name, "first");
  EXPECT_EQ(list.items[2]->metadata.name, "third");
  EXPECT_EQ(list.malformed.size(), 3);
  EXPECT_EQ(list.metadata.resource_version, "7");
  EXPECT_EQ(list.metadata.continue_token, "");
  for (const ServerRequest& request : server.requests()) {
    EXPECT_THAT(request.target,
                HasSubstr("/api/v1/pods?labelSelector=x&limit=1"));
  }
}

TEST(ClientListTest, StartsAgainWithoutPagesIfAPageIsGone) {
  HttpServer server([](const ServerRequest& request, ServerReply reply) {
    if (request.target == "/api/v1/pods?limit=1") {
      reply.Send(200, Page("old", "a"));
    } else if (request.target == "/api/v1/pods?limit=1&continue=a") {
      reply.Send(410, R"({"code": 410, "reason": "Expired"})");
    } else {
      reply.Send(200, Page("new", ""));
    }
  });
  Client client(ConfigFor(server.url()));
  const auto list = client.List<Pod>({.limit = 1});
  ASSERT_EQ(list.items.size(), 1);
  EXPECT_EQ(list.items[0]->metadata.name, "new");
  EXPECT_EQ(list.malformed.size(), 1);
  ASSERT_EQ(server.requests().size(), 3);
  EXPECT_EQ(server.requests()[2].target, "/api/v1/pods");
}

// Only an expired token makes the list start again.
TEST(ClientListTest, AnotherErrorOnALaterPageIsAnError) {
  for (const int status : {400, 404, 500}) {
    HttpServer server([=](const ServerRequest& request, ServerReply reply) {
      if (request.target == "/api/v1/pods?limit=1") {
        reply.Send(200, Page("first", "a"));
      } else if (request.target == "/api/v1/pods?limit=1&continue=a") {
        reply.Send(status, R"({"message": "no"})");
      } else {
        reply.Send(200, Page("all", ""));
      }
    });
    Client client(ConfigFor(server.url()));
    const Outcome outcome = OutcomeOf([&] { client.List<Pod>({.limit = 1}); });
    EXPECT_EQ(outcome.kind, "ApiError") << status;
    EXPECT_EQ(outcome.message, "no") << status;
    EXPECT_EQ(server.requests().size(), 2) << status;
  }
}

TEST(ClientListTest, A410ForTheFirstPageIsAnError) {
  HttpServer server([](const ServerRequest&, ServerReply reply) {
    reply.Send(410, R"({"code": 410, "message": "gone"})");
  });
  Client client(ConfigFor(server.url()));
  EXPECT_EQ(OutcomeOf([&] { client.List<Pod>(); }).message, "gone");
  EXPECT_EQ(server.requests().size(), 1);
}

}  // namespace
}  // namespace minisched
