#include "lab/live/live_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <thread>

#include "lab/live/live_testing.h"
#include "testing/embedded_server.h"

namespace minisched {
namespace {

using live::Origin;
using live::PostJson;
using live::StreamReader;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class LivePageTest : public ::testing::Test {
 protected:
  void Open(const std::string& version, bool control = false) {
    page_.emplace(server_.config(),
                  LivePageOptions{.control = control,
                                  .program = "minisched-13",
                                  .scheduler_name = "minisched",
                                  .server_version = version,
                                  .add_actions = AddPace},
                  std::stop_token());
    const std::string url = page_->url();
    const auto token = url.find("token=");
    if (token == url.npos) return;
    const std::string origin = Origin(url);
    cookie_ = "minisched-live-" + origin.substr(origin.rfind(':') + 1) + "=" +
              url.substr(token + 6);
  }
  static void AddPace(live::LiveActions& actions) {
    actions.pace = [](const http::Request&,
                      live::LiveActions::Respond respond) {
      respond({.status = 204});
    };
  }
  void OpenEmbedded() { Open("v1.37.2+minisched"); }

  std::string Post(const std::string& target, const std::string& body) {
    return live::Fetch(page_->url(), "POST", target,
                       {{"Sec-Fetch-Site", "same-origin"},
                        {"Content-Type", "application/json"},
                        {"Cookie", cookie_}},
                       body);
  }
  std::string Get(const std::string& target) {
    return live::Fetch(page_->url(), "GET", target, {{"Cookie", cookie_}});
  }
  // Returns the data of the event "start".
  nlohmann::json Start() {
    StreamReader reader(page_->url(), "Cookie: " + cookie_ + "\r\n");
    return nlohmann::json::parse(
        live::Line(reader.ReadUntil("event: base"), "data: "));
  }

  void MarkAsDisposable() {
    Client client(server_.config());
    client.Send({.method = "PATCH",
                 .path = "/api/v1/namespaces/kube-system",
                 .content_type = "application/merge-patch+json",
                 .body = R"({"metadata":{"labels":
                             {"minisched-cluster":"disposable"}}})"});
  }

  EmbeddedServer server_{R"(
apiVersion: v1
kind: Node
metadata: {name: node-1}
)"};
  std::string cookie_ = "a=b";
  std::optional<LivePage> page_;
};

TEST_F(LivePageTest, TheEmbeddedServerNeedsNoTokenAndImpliesControl) {
  OpenEmbedded();
  EXPECT_THAT(page_->url(), EndsWith("/"));
  EXPECT_THAT(Post("/live/pace", R"({"pace":"pause"})"),
              StartsWith("HTTP/1.1 204 "));
  EXPECT_EQ(Start()["control"], true);
  EXPECT_EQ(Start()["reset"], true);
  EXPECT_EQ(Start()["source"], server_.config().server);
}

TEST_F(LivePageTest, OtherServersNeedATokenAndTheFlag) {
  for (const char* version :
       {"v1.37.2", "", "v1.37.2+minisched-like", "v1.37.2+k3s1"}) {
    Open(version);
    EXPECT_THAT(page_->url(), HasSubstr("/?token=")) << version;
    EXPECT_THAT(live::Fetch(page_->url(), "GET", "/"),
                StartsWith("HTTP/1.1 403 "));
    EXPECT_THAT(Get("/"), StartsWith("HTTP/1.1 200 "));
    EXPECT_THAT(Post("/live/pace", R"({"pace":"pause"})"),
                AllOf(StartsWith("HTTP/1.1 403 "), HasSubstr("--control")));
    EXPECT_EQ(Start()["control"], false);
    EXPECT_EQ(Start()["reset"], false);
    Open(version, /*control=*/true);
    EXPECT_THAT(Post("/live/pace", R"({"pace":"run"})"),
                StartsWith("HTTP/1.1 204 "));
  }
}

TEST_F(LivePageTest, OnlyDisposableClustersCanBeReset) {
  Open("v1.37.2", /*control=*/true);
  EXPECT_EQ(Start()["reset"], false);
  for (const char* target : {"/live/reset", "/live/import"}) {
    EXPECT_THAT(Post(target, "{}"), StartsWith("HTTP/1.1 404 ")) << target;
  }
  MarkAsDisposable();
  Open("v1.37.2", /*control=*/true);
  EXPECT_EQ(Start()["reset"], true);
  EXPECT_THAT(Post("/live/reset", "{}"),
              AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("\"errors\":[]")));
  // Without the version, nothing is known of the server.
  Open("", /*control=*/true);
  EXPECT_EQ(Start()["reset"], false);
}

TEST_F(LivePageTest, PassesRequestsForObjectsOn) {
  OpenEmbedded();
  EXPECT_THAT(Get("/live/api/api/v1/nodes/node-1"),
              AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("\"node-1\"")));
  EXPECT_THAT(Get("/live/export"), HasSubstr("  kind: Node\n"));
}

TEST_F(LivePageTest, EndsWhileAPageIsConnected) {
  OpenEmbedded();
  StreamReader reader(page_->url());
  reader.ReadUntil("event: base");
  page_.reset();
}

}  // namespace
}  // namespace minisched
