#include "minisched/client/proxy.h"

#include <gtest/gtest.h>

#include <string>

#include "minisched/client/kubeconfig_testing.h"

namespace minisched {
namespace {

TEST(NeedsProxyTest, IsFalseForTheServersOfNoProxy) {
  struct Case {
    std::string server;
    std::string no_proxy;
    bool needs_proxy;
  };
  for (const Case& c : {
           Case{"https://h:6443", "", true},
           {"https://h:6443", " , ,", true},
           {"https://h:6443", "*", false},
           {"https://h:6443", "a, H ,b", false},
           {"https://H:6443", "h", false},
           {"https://h:6443/path", "h:6443", false},
           {"https://h:6443", "h:443", true},
           {"https://h", "h:443", false},
           {"http://h", "h:80", false},
           {"https://a.h", "h", false},
           {"https://ah", "h", true},
           {"https://a.h", ".h", false},
           {"https://h", ".h", true},
           {"https://a.h", "*.h", false},
           {"https://h", "*.h", true},
           {"https://h", ":443", true},
           {"https://10.1.2.3:6443", "10.1.2.3", false},
           {"https://10.1.2.3:6443", "10.1.2.3:6443", false},
           {"https://10.1.2.3:6443", "10.1.2.3:443", true},
           {"https://10.1.2.3:6443", "10.1.2", true},
           {"https://10.1.2.3:6443", "10.0.0.0/8", false},
           {"https://10.1.2.3:6443", "10.1.2.2/31", false},
           {"https://10.1.2.3:6443", "10.1.2.4/31", true},
           {"https://10.1.2.3:6443", "0.0.0.0/0", false},
           {"https://10.1.2.3:6443", "10.0.0.0/33", true},
           {"https://10.1.2.3:6443", "10.0.0.0/x", true},
           {"https://h:6443", "0.0.0.0/0", true},
           {"https://[fd00::1]:6443", "fd00::1", false},
           {"https://[fd00::1]:6443", "[fd00::1]:6443", false},
           {"https://[fd00::1]:6443", "[fd00::1]:443", true},
           {"https://[fd00::1]", "fd00::/8", false},
           {"https://[fd00::1]", "fe00::/8", true},
       }) {
    EXPECT_EQ(NeedsProxy(c.server, c.no_proxy), c.needs_proxy)
        << c.server << ", " << c.no_proxy;
  }
}

TEST(NeedsProxyTest, IsFalseForLoopback) {
  for (const std::string server :
       {"https://localhost:6443", "http://127.0.0.1:8080", "https://127.1.2.3",
        "https://[::1]:6443"}) {
    EXPECT_FALSE(NeedsProxy(server, "")) << server;
  }
  EXPECT_TRUE(NeedsProxy("https://localhost.example.com", ""));
  EXPECT_TRUE(NeedsProxy("https://128.0.0.1", ""));
}

// A proxy may be the only way to the server.

using ProxyTest = KubeconfigTest;

TEST_F(ProxyTest, RefusesTheProxyOfAnHttpsServer) {
  const std::string config = OneContext(kServer, "");
  environment_.http_proxy = "http://secret@p:3128";
  EXPECT_EQ(ErrorOf(config), "");
  environment_.https_proxy = "http://secret@p:3128";
  EXPECT_EQ(ErrorOf(config),
            "context \"c\" of DIR/config: $HTTPS_PROXY or $https_proxy is set "
            "for https://h:6443, but proxies are not supported; to connect "
            "without one, add h to $NO_PROXY");
  environment_.no_proxy = "a,h";
  EXPECT_EQ(ErrorOf(config), "");
}

TEST_F(ProxyTest, RefusesTheProxyOfAnHttpServer) {
  const std::string config = OneContext("server: \"http://10.0.0.1/x\"", "");
  environment_.https_proxy = "http://p:3128";
  EXPECT_EQ(ErrorOf(config), "");
  environment_.http_proxy = "http://p:3128";
  EXPECT_EQ(ErrorOf(config),
            "context \"c\" of DIR/config: $HTTP_PROXY or $http_proxy is set "
            "for http://10.0.0.1/x, but proxies are not supported; to connect "
            "without one, add 10.0.0.1 to $NO_PROXY");
}

TEST_F(ProxyTest, RefusesTheProxyOfAPod) {
  EnterPod();
  environment_.https_proxy = "p:3128";
  EXPECT_EQ(Error(),
            "the in-cluster account: $HTTPS_PROXY or $https_proxy is set for "
            "https://10.96.0.1:443, but proxies are not supported; to connect "
            "without one, add 10.96.0.1 to $NO_PROXY");
}

TEST(ProcessEnvironmentTest, PrefersUpperCaseNamesOfProxies) {
  unsetenv("HTTPS_PROXY");
  setenv("https_proxy", "lower", 1);
  EXPECT_EQ(ProcessEnvironment().https_proxy, "lower");
  setenv("HTTPS_PROXY", "upper", 1);
  EXPECT_EQ(ProcessEnvironment().https_proxy, "upper");
  setenv("HTTPS_PROXY", "", 1);
  EXPECT_EQ(ProcessEnvironment().https_proxy, "lower");
  unsetenv("HTTPS_PROXY");
  unsetenv("https_proxy");
}

}  // namespace
}  // namespace minisched
