#include "minisched/app/live_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <thread>

#include "minisched/live/live_testing.h"
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
    page_.emplace(trace_, pace_, server_.config(),
                  LivePageOptions{.control = control,
                                  .program = "minisched-13",
                                  .scheduler_name = "minisched",
                                  .server_version = version},
                  std::stop_token());
    const std::string url = page_->url();
    const auto token = url.find("token=");
    if (token == url.npos) return;
    const std::string origin = Origin(url);
    cookie_ = "minisched-live-" + origin.substr(origin.rfind(':') + 1) + "=" +
              url.substr(token + 6);
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
  Trace trace_{"minisched", RealClock(), {}, {}, "minisched-13"};
  PaceSetter pace_{trace_, {}, {}};
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
    EXPECT_THAT(
        Post("/live/pace", R"({"pace":"pause"})"),
        AllOf(StartsWith("HTTP/1.1 403 "), HasSubstr("--live-control")));
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

TEST_F(LivePageTest, APageGetsRecordsAndRows) {
  OpenEmbedded();
  Pod pod;
  pod.metadata = {.name = "web", .namespace_name = "shop", .uid = "7"};
  trace_.Moved(pod, Place::kActive, {.event = "UnscheduledPodAdd"});
  StreamReader reader(page_->url());
  reader.ReadUntil(R"("place":"active")");
  EXPECT_THAT(reader.ReadUntil(R"("cluster":{"node":{)"),
              HasSubstr(R"("program":"minisched-13")"));
  reader.ReadUntil(R"("server":"connected")");
  trace_.Tried([] {
    return Attempt{.pod = "shop/web",
                   .uid = "7",
                   .number = 1,
                   .filters = {"NodeName"},
                   .fits = std::vector<std::string>{"node-1"},
                   .node = "node-1"};
  });
  const std::string text = reader.ReadUntil(R"("attempt":1)");
  EXPECT_THAT(text, Not(HasSubstr(R"("fits")")));
  EXPECT_THAT(Get("/live/attempts/7/1"), HasSubstr(R"("fits":["node-1"])"));
}

TEST_F(LivePageTest, APageThatIsOpenedLaterGetsTheLastFailedAttempts) {
  OpenEmbedded();
  trace_.Tried(
      [] {
        return Attempt{.pod = "shop/web",
                       .uid = "7",
                       .number = 3,
                       .filters = {"NodeName"},
                       .rejected = {{.node = "node-1",
                                     .rejections = {{"NodeName", {"no"}}}}},
                       .failure = "0/1 nodes are available: 1 no."};
      },
      /*failed=*/true);
  StreamReader reader(page_->url());
  reader.ReadUntil(R"("attempt":3)");
  EXPECT_THAT(Get("/live/attempts/7/3"), HasSubstr(R"("rejected":[)"));
}

TEST_F(LivePageTest, SetsThePace) {
  OpenEmbedded();
  StreamReader reader(page_->url());
  reader.ReadUntil(R"("paused":false)");
  EXPECT_THAT(Post("/live/pace", R"({"pace":"1h"})"),
              StartsWith("HTTP/1.1 204 "));
  reader.ReadUntil(R"("paused":true)");
  reader.ReadUntil(R"("live":{"every":"1h"})");
  Post("/live/pace", R"({"pace":"pause"})");
  reader.ReadUntil(R"("live":{"every":""})");
  EXPECT_THAT(Post("/live/pace", R"({"pace":"fast"})"),
              AllOf(StartsWith("HTTP/1.1 400 "),
                    HasSubstr("is not a pace: use run, step")));
}

TEST_F(LivePageTest, EndsAWaitOnPermit) {
  OpenEmbedded();
  EXPECT_THAT(Post("/live/waiting", R"({"uid":"7","allow":true})"),
              StartsWith("HTTP/1.1 409 "));
  std::string ended;
  const Trace::Offer offer(
      trace_, [](std::size_t) { return QueueRecord(); },
      [&](const std::string& uid, bool allow) {
        ended = uid + (allow ? " allowed" : " rejected");
        return uid == "7";
      });
  EXPECT_THAT(Post("/live/waiting", R"({"uid":"7","allow":true})"),
              StartsWith("HTTP/1.1 204 "));
  EXPECT_EQ(ended, "7 allowed");
  EXPECT_THAT(Post("/live/waiting", R"({"uid":"8","allow":false})"),
              StartsWith("HTTP/1.1 409 "));
  EXPECT_EQ(ended, "8 rejected");
}

TEST_F(LivePageTest, AsksForAllRejections) {
  OpenEmbedded();
  StreamReader reader(page_->url());
  reader.ReadUntil("event: base");
  EXPECT_FALSE(trace_.wants_all_rejections());
  Post("/live/all-rejections", R"({"on":true})");
  EXPECT_TRUE(trace_.wants_all_rejections());
  Post("/live/all-rejections", R"({"on":false})");
  EXPECT_FALSE(trace_.wants_all_rejections());
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
