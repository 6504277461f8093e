#include "minisched/config/read.h"

#include <gmock/gmock.h>

#include <chrono>
#include <string>

#include "minisched/api/parse_error.h"
#include "minisched/config/suggest.h"

namespace minisched {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kReadHead[] =
    "apiVersion: kubescheduler.config.k8s.io/v1\n"
    "kind: KubeSchedulerConfiguration\n";

// Reads a valid text after the head.
KubeSchedulerConfiguration Read(const std::string& text) {
  ConfigurationSource source = ReadConfiguration(kReadHead + text);
  EXPECT_THAT(source.errors, IsEmpty());
  return source.configuration;
}

// Returns the errors in the text after the head, as "path: message".
std::vector<std::string> ReadErrorsOf(const std::string& text) {
  std::vector<std::string> errors;
  for (const auto& [path, message] :
       ReadConfiguration(kReadHead + text).errors) {
    errors.push_back(path + ": " + message);
  }
  return errors;
}

// Returns why the text isn't a configuration.
std::string FailureOf(const std::string& text) {
  try {
    ReadConfiguration(text);
  } catch (const ParseError& error) {
    return error.what();
  }
  return "";
}

TEST(ReadConfigurationTest, FieldsThatAreAbsentHaveTheirDefaults) {
  KubeSchedulerConfiguration expected;
  expected.profiles = {{.scheduler_name = "default-scheduler"}};
  EXPECT_EQ(Read(""), expected);
  EXPECT_EQ(Read("profiles: null\nparallelism: ~\nleaderElection: {}"),
            expected);
}

TEST(ReadConfigurationTest, ReadsTheFieldsOfTheConfiguration) {
  const KubeSchedulerConfiguration configuration = Read(R"(
parallelism: 3
percentageOfNodesToScore: 20
podInitialBackoffSeconds: 4
podMaxBackoffSeconds: 5
delayCacheUntilActive: true
clientConnection: {kubeconfig: a, qps: 12.5, burst: 7, contentType: b}
leaderElection: {leaderElect: false, leaseDuration: 1m, retryPeriod: 1500ms}
)");
  EXPECT_EQ(configuration.parallelism, 3);
  EXPECT_EQ(configuration.percentage_of_nodes_to_score, 20);
  EXPECT_EQ(configuration.pod_initial_backoff_seconds, 4);
  EXPECT_EQ(configuration.pod_max_backoff_seconds, 5);
  EXPECT_TRUE(configuration.delay_cache_until_active);
  EXPECT_EQ(configuration.client_connection.kubeconfig, "a");
  EXPECT_EQ(configuration.client_connection.qps, 12.5);
  EXPECT_EQ(configuration.client_connection.burst, 7);
  EXPECT_EQ(configuration.client_connection.content_type, "b");
  EXPECT_EQ(configuration.leader_election.leader_elect, false);
  EXPECT_EQ(configuration.leader_election.lease_duration, seconds(60));
  EXPECT_EQ(configuration.leader_election.retry_period, milliseconds(1500));
}

TEST(ReadConfigurationTest, ReadsPlugins) {
  const KubeSchedulerConfiguration configuration = Read(R"(
profiles:
- schedulerName: a
  percentageOfNodesToScore: 0
  plugins:
    multiPoint: {enabled: [{name: b, weight: 2}]}
    score: {disabled: [{name: "*"}]}
)");
  KubeSchedulerProfile profile{.scheduler_name = "a",
                               .percentage_of_nodes_to_score = 0};
  profile.plugins.multi_point.enabled = {{"b", 2}};
  profile.plugins[ExtensionPoint::kScore].disabled = {{"*"}};
  EXPECT_THAT(configuration.profiles, ElementsAre(profile));
}

TEST(ReadConfigurationTest, ReadsArgumentsByThePluginsName) {
  const KubeSchedulerConfiguration configuration = Read(R"(
profiles:
- pluginConfig:
  - name: InterPodAffinity
    args: {kind: InterPodAffinityArgs, hardPodAffinityWeight: 5}
  - name: NodeNumber
    args: {b: 1, a: [x]}
  - name: DefaultPreemption
  - name: Mine
)");
  EXPECT_THAT(
      configuration.profiles.at(0).plugin_config,
      ElementsAre(PluginConfig{"InterPodAffinity", InterPodAffinityArgs{5}},
                  PluginConfig{"NodeNumber", RawArgs{R"({"a":["x"],"b":1})"}},
                  PluginConfig{"DefaultPreemption", DefaultPreemptionArgs()},
                  PluginConfig{"Mine", RawArgs()}));
}

TEST(ReadConfigurationTest, OnlyASingleProfileHasADefaultName) {
  EXPECT_EQ(Read("profiles: [{}]").profiles[0].scheduler_name,
            "default-scheduler");
  EXPECT_EQ(Read("profiles: [{schedulerName: ''}]").profiles[0].scheduler_name,
            "");
  EXPECT_EQ(Read("profiles: [{}, {}]").profiles[1].scheduler_name, "");
}

TEST(ReadConfigurationTest, WithoutProfilingThereIsNoContentionProfiling) {
  EXPECT_FALSE(Read("enableProfiling: false").enable_contention_profiling);
  EXPECT_TRUE(Read("enableProfiling: false\nenableContentionProfiling: true")
                  .enable_contention_profiling);
}

TEST(ReadConfigurationTest, ReportsAllErrors) {
  EXPECT_THAT(
      ReadErrorsOf(R"(
parallelism: many
Parallelism: 3
podMaxBackoffSeconds: 9223372036854775808
clientConnection: {qps: 1e39, burst: 1.5}
leaderElection: {leaseDuration: 15, retryPeriod: null}
profiles:
- schedulerName: 5
  plugins:
    score:
      enabled:
      - name: ImageLocality
        wieght: 2
  pluginConfig:
  - name: NodeAffinity
    args: {added: {}}
  - name: InterPodAffinity
    args: {kind: NodeAffinityArgs, apiVersion: v1}
)"),
      testing::UnorderedElementsAre(
          "parallelism: a whole number is expected, not \"many\"",
          "Parallelism: unknown field, did you mean \"parallelism\"?",
          "podMaxBackoffSeconds: the number 9223372036854775808 does not fit",
          "clientConnection.qps: the number 1e+39 does not fit",
          "clientConnection.burst: a whole number is expected, not 1.5",
          "leaderElection.leaseDuration: a duration such as 15s is expected, "
          "not 15",
          "leaderElection.retryPeriod: a duration such as 15s is expected, not "
          "null",
          "profiles[0].schedulerName: a string is expected, not 5",
          "profiles[0].plugins.score.enabled[0].wieght: unknown field, did you "
          "mean \"weight\"?",
          "profiles[0].pluginConfig[0].args.added: unknown field",
          "profiles[0].pluginConfig[1].args.kind: must be InterPodAffinityArgs",
          "profiles[0].pluginConfig[1].args.apiVersion: must be "
          "kubescheduler.config.k8s.io/v1"));
}

TEST(ReadConfigurationTest, ReportsRepeatedFields) {
  EXPECT_THAT(ReadErrorsOf("profiles: [{schedulerName: a, schedulerName: b}]"),
              ElementsAre("profiles[0].schedulerName: the field is repeated"));
  EXPECT_THAT(ReadErrorsOf("clientConnection:\n  <<: {qps: 1}\n  qps: 2"),
              ElementsAre("clientConnection.qps: the field is repeated"));
  const ConfigurationSource json = ReadConfiguration(
      R"({"apiVersion": "kubescheduler.config.k8s.io/v1", "parallelism": 1,
          "kind": "KubeSchedulerConfiguration", "parallelism": 2})");
  EXPECT_THAT(json.errors,
              ElementsAre(FieldError{"parallelism", "the field is repeated"}));
}

TEST(ReadConfigurationTest, RefusesOtherDocuments) {
  EXPECT_EQ(FailureOf(""), "the first document is empty");
  EXPECT_EQ(FailureOf(std::string("---\n---\n") + kReadHead),
            "the first document is empty");
  EXPECT_EQ(FailureOf(std::string(kReadHead) + "---\na: 1"),
            "one document is expected, not 2");
  EXPECT_EQ(FailureOf("[]"), "an object is expected");
  EXPECT_EQ(FailureOf("kind: Pod"),
            "apiVersion: kubescheduler.config.k8s.io/v1 is expected, not "
            "nothing");
  EXPECT_EQ(FailureOf("apiVersion: kubescheduler.config.k8s.io/v1\nkind: Pod"),
            "kind: KubeSchedulerConfiguration is expected, not \"Pod\"");
  EXPECT_THAT(FailureOf("{apiVersion: v1}"), HasSubstr("not JSON"));
  EXPECT_THAT(FailureOf("a: [\n"), HasSubstr("line 2"));
}

TEST(FindLineTest, FindsTheInnermostValueWithALine) {
  const auto lines = ReadConfiguration(std::string(kReadHead) +
                                       "profiles:\n"
                                       "- plugins:\n"
                                       "    score: {}\n"
                                       "- &a\n"
                                       "  schedulerName: b\n")
                         .lines;
  EXPECT_EQ(FindLine(lines, "kind"), 2);
  EXPECT_EQ(FindLine(lines, "profiles[0]"), 4);
  EXPECT_EQ(FindLine(lines, "profiles[0].plugins.score.enabled[3].name"), 5);
  EXPECT_EQ(FindLine(lines, "profiles[1].schedulerName"), 7);
  EXPECT_EQ(FindLine(lines, "profiles[2]"), 3);
  EXPECT_EQ(FindLine(lines, "parallelism"), 0);
}

TEST(SuggestTest, SuggestsTheNearestName) {
  const std::set<std::string, std::less<>> names = {"NodeName", "NodePorts",
                                                    "bind", "score"};
  EXPECT_EQ(Suggest("NodeNmae", names), ", did you mean \"NodeName\"?");
  EXPECT_EQ(Suggest("nodeports", names), ", did you mean \"NodePorts\"?");
  EXPECT_EQ(Suggest("scores", names), ", did you mean \"score\"?");
  EXPECT_EQ(Suggest("unrelated", names), "");
  EXPECT_EQ(Suggest("", names), "");
  EXPECT_EQ(Suggest(std::string(1000, 'x'), names), "");
}

}  // namespace
}  // namespace minisched
