#include "minisched/client/server_address.h"

#include <gtest/gtest.h>

#include <string>

#include "minisched/base/printable.h"
#include "minisched/client/client_testing.h"

namespace minisched {
namespace {

struct UrlCase {
  std::string url;
  bool is_https;
  std::string host;
  int port;
  std::string authority;
  std::string path;
};

TEST(ServerAddressTest, HasThePartsOfTheUrl) {
  for (const UrlCase& c : {
           UrlCase{"https://h", true, "h", 443, "h", ""},
           {"http://h/", false, "h", 80, "h", ""},
           {"https://h:443", true, "h", 443, "h:443", ""},
           {"HTTPS://A-b.C_d:6443/P/q//", true, "a-b.c_d", 6443, "a-b.c_d:6443",
            "/P/q"},
           {"http://h//a//b", false, "h", 80, "h", "/a//b"},
           {"http://10.0.0.1:65535/a%20b", false, "10.0.0.1", 65535,
            "10.0.0.1:65535", "/a%20b"},
           {"https://[fd00::1]", true, "fd00::1", 443, "[fd00::1]", ""},
           {"http://[::1]:80/x", false, "::1", 80, "[::1]:80", "/x"},
       }) {
    const ServerAddress address = ParseServerAddress(c.url, "test");
    EXPECT_EQ(address.is_https, c.is_https) << c.url;
    EXPECT_EQ(address.host, c.host) << c.url;
    EXPECT_EQ(address.port, c.port) << c.url;
    EXPECT_EQ(address.authority, c.authority) << c.url;
    EXPECT_EQ(address.path, c.path) << c.url;
  }
}

TEST(ServerAddressTest, RefusesWhatIsNoServer) {
  for (const std::string url : {"",
                                "h",
                                "h:80",
                                "://h",
                                "ftp://h",
                                "unix:///run/k.sock",
                                "https:h",
                                "https://",
                                "https:///path",
                                "https://:80",
                                "https://h:",
                                "https://h:0",
                                "https://h:65536",
                                "https://h:-1",
                                "https://h:1x",
                                "https://a b",
                                "https://h/a b",
                                "https://h/\n",
                                "https://h\r\nX: y",
                                "https://h?x",
                                "https://h/?x",
                                "https://h/#x",
                                "https://::1",
                                "https://[::1",
                                "https://[::1]x",
                                "https://[]",
                                "https://[h]",
                                "https://[::1]]:1",
                                "https://]:1"}) {
    const Outcome outcome = OutcomeOf([&] { ParseServerAddress(url, "test"); });
    EXPECT_EQ(outcome.kind, "ConfigError") << url;
    EXPECT_EQ(outcome.message, "test: the server \"" + Printable(url) +
                                   "\" is not an http:// or https:// URL");
  }
}

TEST(ServerAddressTest, DoesNotQuoteAPassword) {
  for (const std::string url :
       {"https://u@h", "http://u:secret@h/a", "http://u:s/e@h", "u:s@h"}) {
    const Outcome outcome = OutcomeOf([&] { ParseServerAddress(url, "test"); });
    EXPECT_EQ(outcome.kind, "ConfigError") << url;
    EXPECT_EQ(outcome.message,
              "test: a server with a user name is not supported");
  }
  EXPECT_EQ(ParseServerAddress("http://h/a@b", "test").path, "/a@b");
}

}  // namespace
}  // namespace minisched
