#include "lab/live/access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "lab/live/live_server_testing.h"

// Each rule has its own test, through real sockets.

namespace minisched::live {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

class AccessTest : public LiveServerTest {
 protected:
  void StartWithToken() {
    token_ = NewToken();
    options_.token = token_;
    Start();
    const std::string url = Origin(server_->url());
    cookie_ = "minisched-live-" + url.substr(url.rfind(':') + 1) + "=" + token_;
  }

  std::string GetWithCookie(const std::string& target,
                            const std::string& cookie) {
    return Fetch(server_->url(), "GET", target, {{"Cookie", cookie}});
  }

  std::string token_;
  std::string cookie_;
};

TEST_F(AccessTest, ListensOnLoopbackOnly) {
  Start();
  EXPECT_THAT(server_->url(), StartsWith("http://127.0.0.1:"));
}

TEST_F(AccessTest, RefusesAForeignHost) {
  Start();
  for (const char* host :
       {"evil.example", "evil.example:80", "127.0.0.1.evil.example",
        "192.168.0.1", "0.0.0.0", "[::2]:80", "localhost.evil.example"}) {
    EXPECT_THAT(Fetch(server_->url(), "GET", "/", {{"Host", host}}),
                StartsWith("HTTP/1.1 403 "))
        << host;
  }
  for (const char* host :
       {"localhost", "LOCALHOST:1", "127.0.0.1:80", "[::1]", "[::1]:80"}) {
    EXPECT_THAT(Fetch(server_->url(), "GET", "/", {{"Host", host}}),
                StartsWith("HTTP/1.1 200 "))
        << host;
  }
}

TEST_F(AccessTest, EachResponseHasTheSecurityHeaders) {
  Start();
  const std::string malformed =
      http::Exchange(Origin(server_->url()), "nonsense\r\n\r\n");
  EXPECT_THAT(malformed, StartsWith("HTTP/1.1 400 "));
  const std::vector<std::string> responses = {
      malformed,
      Get("/"),
      Get("/live.js"),
      Get("/none"),
      Get("/live/export"),
      Get("/%zz"),
      Post("/live/pace", "{"),
      Fetch(server_->url(), "GET", "/", {{"Host", "evil.example"}}),
      Fetch(server_->url(), "POST", "/live/pace", {}, "{}")};
  for (const std::string& response : responses) {
    EXPECT_THAT(
        response,
        AllOf(HasSubstr("\r\nContent-Security-Policy: default-src 'none'; "
                        "script-src 'self'; style-src 'self'; connect-src "
                        "'self'; require-trusted-types-for 'script'; "
                        "trusted-types 'none'; frame-ancestors 'none'\r\n"),
              HasSubstr("\r\nX-Content-Type-Options: nosniff\r\n"),
              HasSubstr("\r\nReferrer-Policy: no-referrer\r\n"),
              Not(HasSubstr("Access-Control-"))));
  }
}

TEST_F(AccessTest, TokensHave128Bits) {
  std::set<std::string> tokens;
  for (int i = 0; i < 100; ++i) tokens.insert(NewToken());
  EXPECT_EQ(tokens.size(), 100U);
  EXPECT_THAT(*tokens.begin(), MatchesRegex("[0-9a-f]{32}"));
}

TEST_F(AccessTest, TheTokenOfTheUrlBecomesACookie) {
  StartWithToken();
  EXPECT_THAT(server_->url(), MatchesRegex("http://127.0.0.1:[0-9]+/"
                                           "\\?token=[0-9a-f]{32}"));
  const std::string response = Get("/?token=" + token_);
  EXPECT_THAT(response, StartsWith("HTTP/1.1 303 "));
  EXPECT_THAT(response, HasSubstr("\r\nLocation: /\r\n"));
  EXPECT_THAT(response, HasSubstr("\r\nSet-Cookie: " + cookie_ +
                                  "; Path=/; HttpOnly; SameSite=Strict\r\n"));
  EXPECT_THAT(GetWithCookie("/", cookie_), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(GetWithCookie("/", "a=b; " + cookie_ + "; c=d"),
              StartsWith("HTTP/1.1 200 "));
}

TEST_F(AccessTest, RefusesAMissingOrWrongToken) {
  StartWithToken();
  const std::string wrong = token_.substr(1) + (token_[0] == '0' ? "1" : "0");
  for (const char* target : {"/", "/live.js", "/live/events", "/live/export",
                             "/live/api/api/v1/nodes", "/none"}) {
    EXPECT_THAT(Get(target), StartsWith("HTTP/1.1 403 ")) << target;
  }
  EXPECT_THAT(Get("/?token=" + wrong), StartsWith("HTTP/1.1 403 "));
  EXPECT_THAT(Get("/?token="), StartsWith("HTTP/1.1 403 "));
  EXPECT_THAT(Get("/live/export?token=" + token_), StartsWith("HTTP/1.1 403 "));
  for (const std::string& cookie :
       {std::string("x=y"), "x" + cookie_, cookie_ + "0",
        "minisched-live-1=" + token_,
        cookie_.substr(0, cookie_.size() - 32) + wrong,
        cookie_.substr(0, cookie_.size() - 32)}) {
    EXPECT_THAT(GetWithCookie("/", cookie), StartsWith("HTTP/1.1 403 "))
        << cookie;
  }
  EXPECT_THAT(Write({}), StartsWith("HTTP/1.1 403 "));
  EXPECT_THAT(calls_, IsEmpty());
}

TEST_F(AccessTest, AWriteWithTheCookieIsAllowed) {
  StartWithToken();
  EXPECT_THAT(Write({{"Cookie", cookie_}}), StartsWith("HTTP/1.1 200 "));
  EXPECT_EQ(calls_.size(), 1U);
}

TEST_F(AccessTest, RefusesWritesWithoutControl) {
  options_.control = false;
  Start();
  for (const char* target :
       {"/live/pace", "/live/waiting", "/live/all-rejections", "/live/import",
        "/live/reset", "/live/api/api/v1/nodes"}) {
    const std::string response = Post(target, R"({"pace":"run","uid":"1",
                                                  "allow":true,"on":true})");
    EXPECT_THAT(response, StartsWith("HTTP/1.1 403 ")) << target;
    EXPECT_THAT(response, HasSubstr("--control")) << target;
  }
  for (const char* method : {"PUT", "DELETE"}) {
    EXPECT_THAT(Fetch(server_->url(), method, "/live/api/api/v1/nodes/n",
                      {{"Sec-Fetch-Site", "same-origin"},
                       {"Content-Type", "application/json"}},
                      "{}"),
                StartsWith("HTTP/1.1 403 "));
  }
  EXPECT_THAT(calls_, IsEmpty());
  EXPECT_THAT(Get("/live/api/api/v1/nodes"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(AccessTest, RefusesWritesOfAnotherType) {
  Start();
  for (const char* type :
       {"", "text/plain", "application/x-www-form-urlencoded",
        "multipart/form-data", "application/merge-patch+json",
        "text/plain; application/json"}) {
    EXPECT_THAT(Write({{"Content-Type", type}}), StartsWith("HTTP/1.1 415 "))
        << type;
  }
  EXPECT_THAT(calls_, IsEmpty());
  EXPECT_THAT(Write({{"Content-Type", "application/json; charset=utf-8"}}),
              StartsWith("HTTP/1.1 200 "));
}

TEST_F(AccessTest, ADeletionNeedsNoTypeUnlessItHasABody) {
  Start();
  const auto remove = [this](const std::string& body) {
    return Fetch(server_->url(), "DELETE", "/live/api/api/v1/nodes/n",
                 {{"Sec-Fetch-Site", "same-origin"}}, body);
  };
  EXPECT_THAT(remove(""), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(remove("{}"), StartsWith("HTTP/1.1 415 "));
}

TEST_F(AccessTest, RefusesWritesOfOtherPages) {
  Start();
  const std::string origin = Origin(server_->url());
  for (const char* site : {"cross-site", "same-site", "none", "x"}) {
    EXPECT_THAT(Write({{"Sec-Fetch-Site", site}, {"Origin", origin}}),
                StartsWith("HTTP/1.1 403 "))
        << site;
  }
  EXPECT_THAT(calls_, IsEmpty());
}

TEST_F(AccessTest, RefusesReadsOfOtherPages) {
  Start();
  const std::string origin = Origin(server_->url());
  const auto get = [this](const std::string& target, const std::string& site,
                          const std::string& page) {
    return Fetch(server_->url(), "GET", target,
                 {{"Host", Origin(server_->url()).substr(7)},
                  {"Sec-Fetch-Site", site},
                  {"Origin", page}});
  };
  for (const char* site : {"cross-site", "same-site", "x"}) {
    EXPECT_THAT(get("/live/export", site, ""), StartsWith("HTTP/1.1 403 "))
        << site;
    EXPECT_THAT(get("/", site, ""), StartsWith("HTTP/1.1 200 ")) << site;
  }
  for (const char* page :
       {"null", "http://evil.example", "http://127.0.0.1:1"}) {
    EXPECT_THAT(get("/live/export", "", page), StartsWith("HTTP/1.1 403 "))
        << page;
  }
  EXPECT_THAT(calls_, IsEmpty());
  for (const char* site : {"", "same-origin", "none"}) {
    EXPECT_THAT(get("/live/export", site, ""), StartsWith("HTTP/1.1 200 "))
        << site;
  }
  EXPECT_THAT(get("/live/export", "", origin), StartsWith("HTTP/1.1 200 "));
}

TEST_F(AccessTest, WithoutSecFetchSiteTheOriginMustBeTheHost) {
  Start();
  const std::string origin = Origin(server_->url());
  const std::string host = origin.substr(7);
  for (const char* other : {"", "null", "http://evil.example",
                            "http://127.0.0.1:1", "http://localhost"}) {
    EXPECT_THAT(
        Write({{"Sec-Fetch-Site", ""}, {"Host", host}, {"Origin", other}}),
        StartsWith("HTTP/1.1 403 "))
        << other;
  }
  EXPECT_THAT(Write({{"Sec-Fetch-Site", ""},
                     {"Host", host},
                     {"Origin", "https://" + host}}),
              StartsWith("HTTP/1.1 403 "));
  EXPECT_THAT(calls_, IsEmpty());
  EXPECT_THAT(
      Write({{"Sec-Fetch-Site", ""}, {"Host", host}, {"Origin", origin}}),
      StartsWith("HTTP/1.1 200 "));
}

TEST_F(AccessTest, OtherMethodsAreWrites) {
  options_.control = false;
  Start();
  for (const char* method : {"PATCH", "OPTIONS", "TRACE", "POST"}) {
    EXPECT_THAT(Fetch(server_->url(), method, "/"), StartsWith("HTTP/1.1 403 "))
        << method;
  }
}

TEST_F(AccessTest, RefusesLargeBodies) {
  Start();
  EXPECT_THAT(http::Exchange(Origin(server_->url()),
                             "POST /live/import HTTP/1.1\r\nHost: localhost\r\n"
                             "Content-Length: 3145729\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 413 "), HasSubstr("{\"error\":")));
}

TEST_F(AccessTest, RefusesTheSeventeenthStream) {
  Start();
  const std::string request =
      "GET /live/events HTTP/1.1\r\nHost: localhost\r\n\r\n";
  http::asio::io_context io;
  std::vector<http::asio::ip::tcp::socket> sockets;
  for (std::size_t i = 0; i < LiveServer::kMaxStreams; ++i) {
    sockets.push_back(http::Connect(io, Origin(server_->url())));
    http::Send(sockets.back(), request);
    std::string start(12, ' ');
    http::asio::read(sockets.back(), http::asio::buffer(start));
    EXPECT_EQ(start, "HTTP/1.1 200");
  }
  EXPECT_THAT(Get("/live/events"),
              AllOf(StartsWith("HTTP/1.1 503 "), HasSubstr("16 pages")));
  sockets.pop_back();
  std::string response;
  while (!response.starts_with("HTTP/1.1 200")) {
    auto socket = http::Connect(io, Origin(server_->url()));
    http::Send(socket, request);
    response.resize(12);
    http::asio::read(socket, http::asio::buffer(response));
  }
}

TEST_F(AccessTest, ClosesTheHundredAndFirstConnection) {
  Start();
  http::asio::io_context io;
  std::vector<http::asio::ip::tcp::socket> sockets;
  const auto responds = [](http::asio::ip::tcp::socket& socket) {
    http::Send(socket, "GET /none HTTP/1.1\r\nHost: localhost\r\n\r\n");
    std::string start(12, ' ');
    boost::system::error_code error;
    http::asio::read(socket, http::asio::buffer(start), error);
    return !error;
  };
  for (std::size_t i = 0; i < LiveServer::kMaxConnections; ++i) {
    sockets.push_back(http::Connect(io, Origin(server_->url())));
    EXPECT_TRUE(responds(sockets.back())) << i;
  }
  auto refused = http::Connect(io, Origin(server_->url()));
  EXPECT_FALSE(responds(refused));
  sockets.pop_back();
  bool accepted = false;
  while (!accepted) {
    auto socket = http::Connect(io, Origin(server_->url()));
    accepted = responds(socket);
  }
}

TEST_F(AccessTest, ChecksInOrder) {
  options_.control = false;
  StartWithToken();
  // Each request lacks one thing less.
  EXPECT_THAT(Write({{"Host", "1.2.3.4"}, {"Sec-Fetch-Site", "none"}}),
              HasSubstr("Host must be"));
  EXPECT_THAT(Write({{"Sec-Fetch-Site", "none"}}), HasSubstr("token"));
  EXPECT_THAT(Write({{"Cookie", cookie_},
                     {"Sec-Fetch-Site", "none"},
                     {"Content-Type", "x"}}),
              HasSubstr("Sec-Fetch-Site"));
  EXPECT_THAT(Write({{"Cookie", cookie_}, {"Content-Type", "x"}}),
              HasSubstr("Content-Type must"));
  EXPECT_THAT(Write({{"Cookie", cookie_}}), HasSubstr("--control"));
}

}  // namespace
}  // namespace minisched::live
