#include "lab/live/live_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <thread>

#include "lab/live/live_server_testing.h"
#include "lab/live/page.h"

namespace minisched::live {
namespace {

using Json = nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

TEST_F(LiveServerTest, ServesTheFilesOfThePage) {
  Start();
  EXPECT_THAT(Get("/"), AllOf(HasSubstr("Content-Type: text/html;"),
                              EndsWith(std::string(kIndexHtml))));
  EXPECT_THAT(Get("/live.css"), AllOf(HasSubstr("Content-Type: text/css;"),
                                      EndsWith(std::string(kStyle))));
  const std::string script = Get("/live.js");
  EXPECT_THAT(script, AllOf(HasSubstr("Content-Type: text/javascript;"),
                            HasSubstr("Cache-Control: no-cache"),
                            EndsWith(std::string(kScript))));
  std::smatch tag;
  ASSERT_TRUE(std::regex_search(script, tag, std::regex("ETag: (\".+\")\r")));
  EXPECT_THAT(
      Fetch(server_->url(), "GET", "/live.js", {{"If-None-Match", tag[1]}}),
      AllOf(StartsWith("HTTP/1.1 304 "), EndsWith("\r\n\r\n")));
}

// The rules of CMakeLists.txt.
TEST_F(LiveServerTest, TheScriptIsOneModule) {
  const std::string script(kScript);
  EXPECT_THAT(script, ::testing::Not(
                          ::testing::ContainsRegex("(^|\n)(import|export) ")));
  EXPECT_THAT(script, HasSubstr("EventSource"));
  EXPECT_THAT(script, ::testing::Not(HasSubstr("innerHTML")));
}

TEST_F(LiveServerTest, OtherPathsAndMethodsAreNotFound) {
  Start();
  for (const char* path : {"/x", "/live", "/live/", "/live/pace", "/index.html",
                           "/live/attempts", "/../etc/passwd"}) {
    EXPECT_THAT(Get(path),
                AllOf(StartsWith("HTTP/1.1 404 "), HasSubstr(R"({"error":)")))
        << path;
  }
  for (const char* method : {"HEAD", "PUT", "DELETE", "PATCH", "OPTIONS"}) {
    EXPECT_THAT(Fetch(server_->url(), method, "/live/pace",
                      {{"Sec-Fetch-Site", "same-origin"},
                       {"Content-Type", "application/json"}}),
                StartsWith("HTTP/1.1 404 "))
        << method;
  }
  EXPECT_THAT(Post("/", "{}"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(Post("/live/events", "{}"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(Post("/live/export", "{}"), StartsWith("HTTP/1.1 404 "));
}

TEST_F(LiveServerTest, StreamsItemsToEachPage) {
  options_.program = "minisched-13";
  options_.scheduler = "<b>mine</b>";
  options_.source = "http://api";
  Start();
  history_.Add({{.key = "/x", .json = "1"}});
  StreamReader first(server_->url());
  const std::string text = first.ReadUntil("[1]");
  EXPECT_THAT(text, HasSubstr("Content-Type: text/event-stream\r\n"));
  const Json start = Json::parse(Line(text, "data: "));
  EXPECT_EQ(start["program"], "minisched-13");
  EXPECT_EQ(start["scheduler"], "<b>mine</b>");
  EXPECT_EQ(start["source"], "http://api");
  for (const char* name : {"control", "pace", "waiting", "allRejections", "api",
                           "export", "reset"}) {
    EXPECT_EQ(start[name], true) << name;
  }
  StreamReader second(server_->url());
  second.ReadUntil("[1]");
  history_.Add({{.key = "/x", .json = "2"}});
  first.ReadUntil("[2]");
  second.ReadUntil("[2]");
}

TEST_F(LiveServerTest, TheStreamResumes) {
  Start();
  history_.Add({{.key = "/x", .json = "1"}});
  std::string id;
  {
    StreamReader reader(server_->url());
    const std::string text = reader.ReadUntil("[1]\n");
    id = Line(text.substr(text.rfind("id: ")), "id: ");
  }
  history_.Add({{.key = "/x", .json = "2"}});
  StreamReader reader(server_->url(), "Last-Event-ID: " + id + "\r\n");
  EXPECT_THAT(reader.ReadUntil("[2]"),
              AllOf(HasSubstr("event: resume\n"),
                    ::testing::Not(HasSubstr("event: start\n"))));
}

TEST_F(LiveServerTest, CollectsWhilePagesAreConnected) {
  std::atomic<int> calls = 0;
  actions_.collect = [&](std::size_t pages) {
    ++calls;
    pages_ = pages;
    return pages > 0;
  };
  Start();
  Get("/");
  EXPECT_EQ(calls, 0);
  {
    StreamReader reader(server_->url());
    while (calls < 3) std::this_thread::yield();
    EXPECT_EQ(pages_, 1U);
  }
  while (pages_ > 0) std::this_thread::yield();
  const int last = calls;
  std::this_thread::sleep_for(std::chrono::milliseconds(150));
  EXPECT_EQ(calls, last);
  StreamReader reader(server_->url());
  while (pages_ == 0) std::this_thread::yield();
}

TEST_F(LiveServerTest, ReturnsAnAttempt) {
  Start();
  const std::string response = Get("/live/attempts/1/2");
  EXPECT_THAT(response, AllOf(StartsWith("HTTP/1.1 200 "),
                              HasSubstr("Content-Type: application/json"),
                              EndsWith("\r\n\r\n{\"a\":1}")));
  for (const char* name : {"1/3", "2/2", "", "1", "/", "1/", "/2", "1/x"}) {
    EXPECT_THAT(Get(std::string("/live/attempts/") + name),
                StartsWith("HTTP/1.1 404 "))
        << name;
  }
}

TEST_F(LiveServerTest, PassesControlOfTheSchedulerOn) {
  Start();
  for (const char* target :
       {"/live/pace", "/live/waiting", "/live/all-rejections"}) {
    EXPECT_THAT(Post(target, R"({"a":1})"), EndsWith("done")) << target;
  }
  EXPECT_THAT(
      calls_,
      ElementsAre(R"(pace POST /live/pace {"a":1})",
                  R"(waiting POST /live/waiting {"a":1})",
                  R"(all rejections POST /live/all-rejections {"a":1})"));
}

TEST_F(LiveServerTest, PassesRequestsForObjectsOn) {
  Start();
  EXPECT_THAT(Get("/live/api/api/v1/nodes?limit=1"), EndsWith("done"));
  EXPECT_THAT(Get("/live/export"), EndsWith("done"));
  EXPECT_THAT(Post("/live/import", "{}"), EndsWith("done"));
  EXPECT_THAT(Post("/live/reset", "{}"), EndsWith("done"));
  EXPECT_THAT(
      calls_,
      ElementsAre("api GET /api/v1/nodes ", "export GET /live/export ",
                  "import POST /live/import {}", "reset POST /live/reset {}"));
}

TEST_F(LiveServerTest, AnActionMayRespondLaterOnAnyThread) {
  std::jthread responder;
  actions_.api = [&](const http::Request&, LiveActions::Respond respond) {
    responder = std::jthread([respond] {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      respond(http::TextReply("late"));
    });
  };
  Start();
  EXPECT_THAT(Get("/live/api/x"), EndsWith("late"));
}

TEST_F(LiveServerTest, AResponseAfterTheEndHasNoEffect) {
  LiveActions::Respond later;
  std::atomic<bool> called = false;
  actions_.api = [&](const http::Request&, LiveActions::Respond respond) {
    later = std::move(respond);
    called = true;
  };
  Start();
  http::asio::io_context io;
  auto socket = http::Connect(io, Origin(server_->url()));
  http::Send(socket, "GET /live/api/x HTTP/1.1\r\nHost: localhost\r\n\r\n");
  while (!called) std::this_thread::yield();
  server_.reset();
  later(http::TextReply("late"));
  EXPECT_EQ(http::ReadAll(socket), "");
}

TEST_F(LiveServerTest, WhatIsAbsentIsNotOffered) {
  actions_ = {};
  options_.control = false;
  Start();
  history_.Add({{.key = "/x", .json = "1"}});
  StreamReader reader(server_->url());
  const Json start = Json::parse(Line(reader.ReadUntil("[1]"), "data: "));
  for (const char* name : {"control", "pace", "waiting", "allRejections", "api",
                           "export", "reset"}) {
    EXPECT_EQ(start[name], false) << name;
  }
  for (const char* path :
       {"/live/attempts/1/2", "/live/api/api/v1/nodes", "/live/export"}) {
    EXPECT_THAT(Get(path), StartsWith("HTTP/1.1 404 ")) << path;
  }
}

TEST_F(LiveServerTest, APortInUseIsOneClearError) {
  Start();
  LiveOptions same;
  const std::string origin = Origin(server_->url());
  same.port = static_cast<unsigned short>(
      std::stoi(origin.substr(origin.rfind(':') + 1)));
  EXPECT_THAT(
      [&] { const LiveServer second(same, history_, {}); },
      ::testing::ThrowsMessage<std::runtime_error>(
          "cannot listen on " + origin.substr(7) + ": Address already in use"));
}

}  // namespace
}  // namespace minisched::live
