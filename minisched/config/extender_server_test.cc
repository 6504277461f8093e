#include "minisched/config/extender_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "minisched/client/errors.h"
#include "minisched/config/load.h"
#include "minisched/config/upstream_testing.h"

namespace minisched {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

ExtenderConfig ExtenderAt(const std::string& url) {
  return {.url_prefix = url};
}

TEST(ExtenderServerTest, TheUrlLosesSlashesAtItsEnd) {
  EXPECT_EQ(ExtenderServer(ExtenderAt("http://a:1")).server, "http://a:1");
  EXPECT_EQ(ExtenderServer(ExtenderAt("http://a:1/")).server, "http://a:1");
  EXPECT_EQ(ExtenderServer(ExtenderAt("http://a/b//")).server, "http://a/b");
  EXPECT_EQ(ExtenderServer(ExtenderAt("")).server, "");
  EXPECT_EQ(ExtenderServer(ExtenderAt("//")).server, "");
}

TEST(ExtenderServerTest, NothingLimitsTheCalls) {
  const RestConfig server = ExtenderServer(ExtenderAt("http://a/"));
  EXPECT_EQ(server.qps, 0);
  EXPECT_EQ(server.max_in_flight, 0);
  EXPECT_EQ(server.max_response_bytes, std::size_t{64} << 20);
  EXPECT_EQ(server.source, "extender http://a/");
}

TEST(ExtenderServerTest, ACallHasTheTimeoutOfTheConfiguration) {
  ExtenderConfig config = ExtenderAt("http://a");
  EXPECT_EQ(ExtenderServer(config).request_timeout, std::chrono::seconds(5));
  config.http_timeout = milliseconds(1500);
  EXPECT_EQ(ExtenderServer(config).request_timeout, milliseconds(1500));
  EXPECT_EQ(ExtenderServer(config).connect_timeout, milliseconds(1500));
  config.http_timeout = nanoseconds(1);
  EXPECT_EQ(ExtenderServer(config).request_timeout, milliseconds(1))
      << "not 0, which would be no time at all";
}

TEST(ExtenderServerTest, WithoutTlsConfigTheSystemIsTrusted) {
  const RestConfig server = ExtenderServer(ExtenderAt("https://a"));
  EXPECT_FALSE(server.insecure_skip_tls_verify);
  EXPECT_EQ(server.ca_data, "");
  EXPECT_EQ(server.client_certificate_data, "");
  EXPECT_EQ(server.client_key_data, "");
}

// A directory with files, and an extender that names them.
class ExtenderFilesTest : public ::testing::Test {
 protected:
  ExtenderFilesTest() {
    std::string name = ::testing::TempDir() + "extender-XXXXXX";
    directory_ = mkdtemp(name.data());
    for (const char* file : {"ca", "cert", "key"}) {
      std::ofstream(directory_ / file) << file << " of a file\n";
    }
  }
  ~ExtenderFilesTest() override { std::filesystem::remove_all(directory_); }

  std::string Path(const std::string& file) const {
    return (directory_ / file).string();
  }
  static RestConfig ServerWith(const ExtenderTlsConfig& tls) {
    ExtenderConfig config = ExtenderAt("https://a");
    config.tls_config = tls;
    return ExtenderServer(config);
  }

  std::filesystem::path directory_;
};

TEST_F(ExtenderFilesTest, ReadsFiles) {
  const RestConfig server = ServerWith({.server_name = "name",
                                        .cert_file = Path("cert"),
                                        .key_file = Path("key"),
                                        .ca_file = Path("ca")});
  EXPECT_FALSE(server.insecure_skip_tls_verify);
  EXPECT_EQ(server.tls_server_name, "name");
  EXPECT_EQ(server.client_certificate_data, "cert of a file\n");
  EXPECT_EQ(server.client_key_data, "key of a file\n");
  EXPECT_EQ(server.ca_data, "ca of a file\n");
}

TEST_F(ExtenderFilesTest, DataTakesPrecedenceOverAFile) {
  const RestConfig server = ServerWith({.insecure = true,
                                        .cert_file = Path("cert"),
                                        .key_file = Path("none"),
                                        .ca_file = Path("none"),
                                        .key_data = {"a2V5"},
                                        .ca_data = {"Y2E="}});
  EXPECT_TRUE(server.insecure_skip_tls_verify);
  EXPECT_EQ(server.client_certificate_data, "cert of a file\n");
  EXPECT_EQ(server.client_key_data, "key");
  EXPECT_EQ(server.ca_data, "ca");
}

TEST_F(ExtenderFilesTest, AMissingFileIsAnErrorThatNamesIt) {
  const auto error_of = [](const ExtenderTlsConfig& tls) -> std::string {
    try {
      ServerWith(tls);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(error_of({.ca_file = "/no/ca"}),
            "extender https://a: caFile: /no/ca: No such file or directory");
  EXPECT_EQ(error_of({.cert_file = "/no/cert"}),
            "extender https://a: certFile: /no/cert: No such file or "
            "directory");
  EXPECT_EQ(error_of({.key_file = Path("")}),
            "extender https://a: keyFile: " + Path("") + ": is a directory");
}

// Reading the configuration has checked the data.
TEST_F(ExtenderFilesTest, ReadsAnExtenderOfAConfiguration) {
  const auto configuration = LoadConfiguration(
                                 "apiVersion: kubescheduler.config.k8s.io/v1\n"
                                 "kind: KubeSchedulerConfiguration\n"
                                 "extenders:\n"
                                 "- urlPrefix: https://a:1/scheduler/\n"
                                 "  filterVerb: filter\n"
                                 "  enableHTTPS: true\n"
                                 "  httpTimeout: 2s\n"
                                 "  tlsConfig: {caData: Y2E=, certFile: " +
                                     Path("cert") + "}\n",
                                 UpstreamFeatures())
                                 .configuration;
  const RestConfig server = ExtenderServer(configuration.extenders.at(0));
  EXPECT_EQ(server.server, "https://a:1/scheduler");
  EXPECT_EQ(server.request_timeout, std::chrono::seconds(2));
  EXPECT_EQ(server.ca_data, "ca");
  EXPECT_EQ(server.client_certificate_data, "cert of a file\n");
}

}  // namespace
}  // namespace minisched
