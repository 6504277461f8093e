#include "minisched/config/configuration_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "minisched/config/upstream_testing.h"

namespace minisched {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

// Runs a program with the flags in a temporary directory. The API server of its
// kubeconfig can't be reached.
class ConfigurationFlagsTest : public ::testing::Test {
 protected:
  ConfigurationFlagsTest()
      : directory_(std::filesystem::temp_directory_path() /
                   ("configuration_flags_test." + std::to_string(getpid()))) {
    std::filesystem::create_directory(directory_);
    Write("kubeconfig", "7001");
    Write("other", "7002");
  }

  ~ConfigurationFlagsTest() override {
    std::filesystem::remove_all(directory_);
  }

  void Write(const std::string& name, const std::string& port) const {
    std::ofstream(Path(name))
        << "clusters: [{name: c, cluster: {server: 'http://127.0.0.1:" << port
        << "'}}]\ncontexts: [{name: x, context: {cluster: c}}]\n"
           "current-context: x\n";
  }

  std::string Path(const std::string& name) const { return directory_ / name; }

  // Writes a configuration with these fields, and returns its flag.
  std::string Config(const std::string& fields) const {
    std::ofstream(Path("config.yaml"))
        << "apiVersion: kubescheduler.config.k8s.io/v1\n"
           "kind: KubeSchedulerConfiguration\n"
        << fields;
    return "--config=" + Path("config.yaml");
  }

  int Run(
      std::vector<std::string> arguments,
      const std::function<void(const AppContext&,
                               const KubeSchedulerConfiguration&)>& body =
          [](const auto&...) { FAIL() << "the body runs"; }) {
    arguments.insert(arguments.begin(), "bin/minisched-99");
    std::vector<const char*> argv;
    for (const std::string& argument : arguments) {
      argv.push_back(argument.c_str());
    }
    ::testing::internal::CaptureStderr();
    App app("A scheduler.");
    const ConfigurationFlags flags(app, UpstreamFeatures());
    const int code = app.Run(static_cast<int>(argv.size()), argv.data(),
                             [&](const AppContext& context) {
                               body(context, flags.configuration());
                             });
    err_ = ::testing::internal::GetCapturedStderr();
    return code;
  }

  const std::filesystem::path directory_;
  std::string err_;
};

TEST_F(ConfigurationFlagsTest, WithoutAFileTheFlagsCount) {
  EXPECT_EQ(Run({"--kubeconfig=" + Path("kubeconfig"), "--scheduler-name=mine",
                 "--kube-api-qps=7.5", "--kube-api-burst=9"},
                [](const AppContext& context, const auto& configuration) {
                  EXPECT_EQ(context.scheduler_name, "mine");
                  EXPECT_EQ(configuration.profiles[0].scheduler_name, "mine");
                  EXPECT_EQ(configuration.client_connection.qps, 7.5F);
                  EXPECT_EQ(configuration.client_connection.burst, 9);
                  EXPECT_EQ(context.client.config().server,
                            "http://127.0.0.1:7001");
                }),
            0);
}

TEST_F(ConfigurationFlagsTest, WithoutAFileTheSchedulerKeepsItsName) {
  EXPECT_EQ(Run({"--kubeconfig=" + Path("kubeconfig")},
                [](const AppContext& context, const auto& configuration) {
                  EXPECT_EQ(context.scheduler_name, "minisched");
                  EXPECT_EQ(configuration.profiles[0].scheduler_name,
                            "minisched");
                }),
            0);
}

TEST_F(ConfigurationFlagsTest, AFileCountsEvenByItsDefaults) {
  EXPECT_EQ(Run({Config("clientConnection: {burst: 3}\n"),
                 "--kubeconfig=" + Path("kubeconfig"), "--scheduler-name=mine",
                 "--kube-api-qps=7", "--kube-api-burst=9"},
                [](const AppContext& context, const auto&) {
                  EXPECT_EQ(context.scheduler_name, "default-scheduler");
                  EXPECT_EQ(context.client.config().qps, 50);
                  EXPECT_EQ(context.client.config().burst, 3);
                  EXPECT_EQ(context.client.config().server,
                            "http://127.0.0.1:7001");
                }),
            0);
  const std::string file = Path("config.yaml");
  EXPECT_THAT(err_,
              AllOf(HasSubstr("--scheduler-name has no effect beside --config: "
                              "set profiles[0].schedulerName in " +
                              file),
                    HasSubstr("--kube-api-qps has no effect"),
                    HasSubstr("--kube-api-burst has no effect"),
                    Not(HasSubstr("--kubeconfig has no effect"))));
}

TEST_F(ConfigurationFlagsTest, AFileCanNameTheKubeconfig) {
  EXPECT_EQ(
      Run({Config("clientConnection: {kubeconfig: " + Path("other") + "}\n"),
           "--kubeconfig=" + Path("kubeconfig")},
          [](const AppContext& context, const auto&) {
            EXPECT_EQ(context.client.config().server, "http://127.0.0.1:7002");
          }),
      0);
  EXPECT_THAT(err_, HasSubstr("--kubeconfig has no effect"));
}

TEST_F(ConfigurationFlagsTest, FlagsOfLeaderElectionOverrideTheFile) {
  EXPECT_EQ(
      Run({Config("leaderElection: {leaseDuration: 5s, retryPeriod: 1s,\n"
                  "  resourceName: mine}\n"),
           "--kubeconfig=" + Path("kubeconfig"), "--leader-elect=false",
           "--leader-elect-lease-duration=1m", "--leader-elect-renew-deadline",
           "1500ms", "--leader-elect-resource-namespace=here"},
          [](const AppContext&, const auto& configuration) {
            EXPECT_EQ(configuration.leader_election,
                      (LeaderElectionConfiguration{
                          .leader_elect = false,
                          .lease_duration = std::chrono::minutes(1),
                          .renew_deadline = std::chrono::milliseconds(1500),
                          .retry_period = std::chrono::seconds(1),
                          .resource_name = "mine",
                          .resource_namespace = "here"}));
          }),
      0);
  EXPECT_THAT(err_, Not(HasSubstr("has no effect")));
}

TEST_F(ConfigurationFlagsTest, AFileMeansLeaderElectionUnlessItSaysNo) {
  EXPECT_EQ(Run({Config(""), "--kubeconfig=" + Path("kubeconfig")},
                [](const AppContext&, const auto& configuration) {
                  EXPECT_EQ(configuration.leader_election,
                            LeaderElectionConfiguration{.leader_elect = true});
                }),
            0);
}

TEST_F(ConfigurationFlagsTest, WithoutAFileTheLeaseHasTheSchedulersName) {
  EXPECT_EQ(Run({"--kubeconfig=" + Path("kubeconfig"), "--leader-elect",
                 "--scheduler-name=mine"},
                [](const AppContext&, const auto& configuration) {
                  EXPECT_EQ(
                      configuration.leader_election,
                      (LeaderElectionConfiguration{.leader_elect = true,
                                                   .resource_name = "mine"}));
                }),
            0);
  EXPECT_EQ(Run({"--kubeconfig=" + Path("kubeconfig"),
                 "--leader-elect-resource-name=other"},
                [](const AppContext&, const auto& configuration) {
                  const auto& election = configuration.leader_election;
                  EXPECT_EQ(election.leader_elect, false);
                  EXPECT_EQ(election.resource_name, "other");
                }),
            0);
}

TEST_F(ConfigurationFlagsTest, ChecksTheFlagsOfLeaderElection) {
  EXPECT_EQ(Run({"--leader-elect", "--leader-elect-lease-duration=10s",
                 "--leader-elect-resource-lock=endpoints"}),
            1);
  const std::string prefix = "minisched-99: leaderElection.";
  EXPECT_THAT(
      err_,
      AllOf(HasSubstr(prefix +
                      "leaseDuration: must be greater than renewDeadline\n"),
            HasSubstr(prefix + "resourceLock: must be leases\n")));
  for (const char* flag :
       {"--leader-elect-retry-period=2", "--leader-elect-retry-period=",
        "--leader-elect-resource-name=", "--leader-elect=maybe"}) {
    EXPECT_EQ(Run({flag}), 2) << flag;
  }
}

TEST_F(ConfigurationFlagsTest, PrintsEachErrorWithFileAndLine) {
  EXPECT_EQ(Run({Config("paralelism: 3\npodMaxBackoffSeconds: x\n")}), 1);
  const std::string prefix = "minisched-99: " + Path("config.yaml") + ": line ";
  EXPECT_THAT(err_,
              AllOf(HasSubstr(prefix + "3: paralelism: unknown field, did you "
                                       "mean \"parallelism\"?\n"),
                    HasSubstr(prefix + "4: podMaxBackoffSeconds: ")));
}

TEST_F(ConfigurationFlagsTest, PrintsWarnings) {
  EXPECT_EQ(
      Run({Config("profiles: [{pluginConfig: [{name: Odd, args: {}}]}]\n"),
           "--kubeconfig=" + Path("kubeconfig")},
          [](const auto&...) {}),
      0);
  EXPECT_THAT(err_, HasSubstr("config.yaml: line 3: profiles[0].pluginConfig"
                              "[0]: the arguments have no effect"));
}

TEST_F(ConfigurationFlagsTest, ReportsAFileThatCannotBeRead) {
  EXPECT_EQ(Run({"--config=" + Path("none")}), 1);
  EXPECT_THAT(err_, AllOf(HasSubstr("minisched-99: --config " + Path("none")),
                          EndsWith("No such file or directory\n")));
  EXPECT_EQ(Run({"--config=" + directory_.string()}), 1);
  EXPECT_THAT(err_, EndsWith("Is a directory\n"));
}

TEST_F(ConfigurationFlagsTest, WritesTheConfigurationAndEnds) {
  const std::string to = Path("written.yaml");
  EXPECT_EQ(
      Run({Config("podMaxBackoffSeconds: 77\n"), "--write-config-to=" + to}),
      0);
  std::ifstream file(to);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(text, AllOf(HasSubstr("podMaxBackoffSeconds: 77\n"),
                          HasSubstr("schedulerName: default-scheduler\n")));
  EXPECT_EQ(Run({"--write-config-to=" + Path("no/such")}), 1);
  EXPECT_THAT(err_, HasSubstr("--write-config-to " + Path("no/such") +
                              ": cannot write the file"));
}

}  // namespace
}  // namespace minisched
