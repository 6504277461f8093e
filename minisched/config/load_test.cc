#include "minisched/config/load.h"

#include <gmock/gmock.h>

#include <string>

#include "minisched/config/upstream_testing.h"
#include "minisched/config/write.h"

namespace minisched {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr char kLoadHead[] =
    "apiVersion: kubescheduler.config.k8s.io/v1\n"
    "kind: KubeSchedulerConfiguration\n";

LoadedConfiguration Load(
    const std::string& text,
    const SchedulerFeatures& features = UpstreamFeatures()) {
  return LoadConfiguration(kLoadHead + text, features);
}

// Returns the errors in the text after the head, which has two lines.
std::vector<std::string> LoadErrorsOf(
    const std::string& text,
    const SchedulerFeatures& features = UpstreamFeatures()) {
  try {
    Load(text, features);
  } catch (const ConfigurationError& error) {
    return error.errors();
  }
  return {};
}

TEST(LoadConfigurationTest, CompletesProfiles) {
  const auto [configuration, warnings] = Load(R"(profiles:
- plugins:
    multiPoint:
      disabled: [{name: InterPodAffinity}]
    score:
      enabled: [{name: ImageLocality, weight: 2}]
)");
  const KubeSchedulerProfile& profile = configuration.profiles.at(0);
  EXPECT_EQ(profile.scheduler_name, "default-scheduler");
  EXPECT_EQ(profile.plugins.multi_point.enabled.size(), 16);
  std::vector<std::string> configured;
  for (const auto& [name, args] : profile.plugin_config) {
    configured.push_back(name);
  }
  EXPECT_THAT(configured,
              ElementsAre("DefaultPreemption", "NodeAffinity",
                          "NodeResourcesBalancedAllocation", "NodeResourcesFit",
                          "PodTopologySpread", "VolumeBinding"));
  EXPECT_EQ(ArgsOf<VolumeBindingArgs>(profile), VolumeBindingArgs());
  EXPECT_THAT(warnings, IsEmpty());
}

TEST(LoadConfigurationTest, CompletesArguments) {
  const auto [configuration, warnings] = Load(R"(profiles:
- pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated, resources: [{name: gpu}]}}
  - name: VolumeBinding
    args: {bindTimeoutSeconds: 5, shape: []}
)");
  const KubeSchedulerProfile& profile = configuration.profiles.at(0);
  EXPECT_EQ(ArgsOf<NodeResourcesFitArgs>(profile).scoring_strategy,
            (ScoringStrategy{"MostAllocated", {{"gpu", 1}}, std::nullopt}));
  EXPECT_EQ(ArgsOf<VolumeBindingArgs>(profile),
            (VolumeBindingArgs{.bind_timeout_seconds = 5}));
}

TEST(LoadConfigurationTest, WithoutAFileThereIsTheDefault) {
  KubeSchedulerConfiguration expected = Load("").configuration;
  expected.profiles[0].scheduler_name = "minisched";
  expected.leader_election.leader_elect = false;
  EXPECT_EQ(DefaultConfiguration(UpstreamFeatures()), expected);
}

TEST(LoadConfigurationTest, LeaderElectionDependsOnTheScheduler) {
  SchedulerFeatures features = UpstreamFeatures();
  EXPECT_EQ(Load("", features).configuration.leader_election.leader_elect,
            true);
  features.leader_election = false;
  EXPECT_EQ(Load("", features).configuration.leader_election.leader_elect,
            false);
  EXPECT_THAT(LoadErrorsOf("leaderElection: {leaderElect: true}", features),
              ElementsAre(HasSubstr("this scheduler has no leader election")));
}

TEST(LoadConfigurationTest, RefusesWhatTheSchedulerCannotDo) {
  SchedulerFeatures features = UpstreamFeatures();
  features.several_profiles = false;
  features.extenders = false;
  features.plugins_with_args = {"VolumeBinding"};
  EXPECT_THAT(
      LoadErrorsOf(R"(extenders: [{urlPrefix: a}]
profiles:
- schedulerName: a
  plugins:
    multiPoint:
      enabled:
      - name: NodeVolumeLimits
  pluginConfig:
  - name: InterPodAffinity
    args: {hardPodAffinityWeight: 1}
  - name: DefaultPreemption
    args: {minCandidateNodesAbsolute: 5}
  - name: VolumeBinding
    args: {bindTimeoutSeconds: 5}
- schedulerName: b
)",
                   features),
      ElementsAre(
          "line 3: extenders: this scheduler has no extenders",
          "line 9: profiles[0].plugins.multiPoint.enabled[0]: this scheduler "
          "has no plugin \"NodeVolumeLimits\"",
          "line 14: profiles[0].pluginConfig[1].args: this scheduler's "
          "DefaultPreemption has no arguments",
          "line 17: profiles[1]: this scheduler has only one profile"));
}

TEST(LoadConfigurationTest, APluginCannotFilterOrScoreUnprepared) {
  EXPECT_THAT(
      LoadErrorsOf(R"(profiles:
- plugins:
    preFilter: {disabled: [{name: VolumeBinding}, {name: NodePorts}]}
    filter: {disabled: [{name: NodePorts}]}
    preScore: {disabled: [{name: NodeAffinity}]}
)"),
      ElementsAre("line 5: profiles[0].plugins.preFilter: this scheduler's "
                  "VolumeBinding can't run at filter without preFilter",
                  "line 5: profiles[0].plugins.preFilter: this scheduler's "
                  "VolumeBinding can't run at reserve without preFilter",
                  "line 7: profiles[0].plugins.preScore: this scheduler's "
                  "NodeAffinity can't run at score without preScore"));
}

TEST(LoadConfigurationTest, AnExtenderMustBeVerifiableOrInsecure) {
  EXPECT_THAT(
      LoadErrorsOf("extenders: [{enableHTTPS: true}, {enableHTTPS: true, "
                   "tlsConfig: {caData: YQ==}}, {enableHTTPS: true, tlsConfig: "
                   "{caFile: a}}, {enableHTTPS: true, tlsConfig: {insecure: "
                   "true}}, {tlsConfig: {keyData: '?'}}]"),
      UnorderedElementsAre(
          HasSubstr("extenders[0].tlsConfig: set caFile or caData"),
          HasSubstr("extenders[4].tlsConfig.keyData: must be base64")));
}

TEST(LoadConfigurationTest, ExtendersReplaceTheIgnoredResources) {
  const auto configuration = Load(R"(extenders:
- managedResources: [{name: example.com/a, ignoredByScheduler: true}]
profiles:
- pluginConfig:
  - name: NodeResourcesFit
    args: {ignoredResources: [example.com/b]}
)")
                                 .configuration;
  EXPECT_THAT(
      ArgsOf<NodeResourcesFitArgs>(configuration.profiles[0]).ignored_resources,
      ElementsAre("example.com/a"));
}

TEST(LoadConfigurationTest, ReportsAllErrorsInTheOrderOfTheirLines) {
  EXPECT_THAT(
      LoadErrorsOf(R"(profiles:
- schedulerName: 5
  plugins:
    filter:
      enabled:
      - name: NodePorts
      - name: NodeNmae
      - name: ImageLocality
      - name: NodePorts
    score:
      enabled:
      - name: ImageLocality
        wieght: 2
    bind:
      disabled: [{name: DefaultBinder}]
parallelism: 0
)"),
      ElementsAre(
          "line 4: profiles[0].schedulerName: a string is expected, not 5",
          "line 9: profiles[0].plugins.filter.enabled[1]: this scheduler has "
          "no plugin \"NodeNmae\", did you mean \"NodeName\"?",
          "line 10: profiles[0].plugins.filter.enabled[2]: the plugin "
          "\"ImageLocality\" does not implement filter",
          "line 11: profiles[0].plugins.filter.enabled[3]: the plugin "
          "\"NodePorts\" is enabled twice",
          "line 15: profiles[0].plugins.score.enabled[0].wieght: unknown "
          "field, did you mean \"weight\"?",
          "line 16: profiles[0].plugins.bind: at least one plugin must be "
          "enabled",
          "line 18: parallelism: must be greater than 0"));
}

TEST(LoadConfigurationTest, AFieldThatCannotBeReadHasOneError) {
  EXPECT_EQ(
      LoadErrorsOf("profiles: [{schedulerName: 1}, {schedulerName: 2}]").size(),
      2);
}

TEST(LoadConfigurationTest, ErrorsOfJsonHaveNoLine) {
  try {
    LoadConfiguration(
        R"({"apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration", "parallelism": -1})",
        UpstreamFeatures());
    FAIL();
  } catch (const ConfigurationError& error) {
    EXPECT_STREQ(error.what(), "parallelism: must be greater than 0");
  }
}

TEST(LoadConfigurationTest, TextThatIsNoConfigurationIsOneError) {
  EXPECT_THROW(LoadConfiguration("", UpstreamFeatures()), ConfigurationError);
  EXPECT_THROW(LoadConfiguration("a: [", UpstreamFeatures()),
               ConfigurationError);
}

TEST(LoadConfigurationTest, AnErrorIsOneLine) {
  try {
    LoadConfiguration("a: \"\\\x01\"", UpstreamFeatures());
    FAIL();
  } catch (const ConfigurationError& error) {
    EXPECT_THAT(error.what(), HasSubstr("unknown escape character"));
    EXPECT_THAT(error.what(), testing::Not(HasSubstr("\x01")));
  }
  EXPECT_THAT(LoadErrorsOf("\"a\\nb\": 1"),
              ElementsAre(testing::Not(HasSubstr("\n"))));
}

TEST(LoadConfigurationTest, WarnsOfWhatHasNoEffect) {
  const auto [configuration, warnings] = Load(R"(profiles:
- plugins:
    multiPoint:
      disabled: [{name: InterPodAffinity}, {name: DynamicResources}]
    filter:
      disabled:
      - name: "*"
      - name: NodeNmae
  pluginConfig:
  - name: InterPodAffinity
    args: {hardPodAffinityWeight: 5}
  - name: NodeResourceFit
    args: {scoringStrategy: {type: MostAllocated}}
  - name: DynamicResources
)");
  EXPECT_THAT(
      warnings,
      ElementsAre(
          "line 10: profiles[0].plugins.filter.disabled[1]: disables nothing: "
          "this scheduler has no plugin \"NodeNmae\", did you mean "
          "\"NodeName\"?",
          "line 12: profiles[0].pluginConfig[0]: the arguments have no effect: "
          "the plugin is not enabled",
          "line 14: profiles[0].pluginConfig[1]: the arguments have no effect: "
          "this scheduler has no plugin \"NodeResourceFit\", did you mean "
          "\"NodeResourcesFit\"?",
          "line 16: profiles[0].pluginConfig[2]: the arguments have no effect: "
          "this scheduler has no plugin \"DynamicResources\""));
}

TEST(LoadConfigurationTest, MultiPointMayNotSortTheQueueInAnotherWay) {
  SchedulerFeatures features = UpstreamFeatures();
  features.plugins["OtherSort"] = {ExtensionPoint::kQueueSort};
  EXPECT_THAT(LoadErrorsOf(R"(profiles:
- schedulerName: a
- schedulerName: b
  plugins:
    multiPoint:
      disabled: [{name: PrioritySort}]
      enabled: [{name: OtherSort}]
)",
                           features),
              ElementsAre("line 6: profiles[1].plugins.queueSort: must be the "
                          "same in all profiles"));
}

TEST(LoadConfigurationTest, AllProfilesSortTheQueueWithTheSameArguments) {
  EXPECT_EQ(LoadErrorsOf(R"(profiles:
- schedulerName: a
- schedulerName: b
  pluginConfig: [{name: PrioritySort, args: {a: 1}}]
)")
                .size(),
            1);
}

TEST(LoadConfigurationTest, AReadersPluginHasItsArguments) {
  SchedulerFeatures features = UpstreamFeatures();
  features.plugins["MaxPerNode"] = {ExtensionPoint::kFilter};
  features.plugins_with_args.insert("MaxPerNode");
  const auto [configuration, warnings] = Load(R"(profiles:
- plugins: {multiPoint: {enabled: [{name: MaxPerNode}]}}
  pluginConfig: [{name: MaxPerNode, args: {max: 3}}]
)",
                                              features);
  EXPECT_THAT(
      configuration.profiles[0].plugin_config,
      testing::Contains(PluginConfig{"MaxPerNode", RawArgs{R"({"max":3})"}}));
}

// ---- Writing

TEST(WriteConfigurationTest, WritesTheFormOfKubeScheduler) {
  const std::string yaml = WriteConfiguration(Load(R"(
clientConnection: {qps: 0.1}
leaderElection: {leaseDuration: 90s}
profiles:
- plugins:
    multiPoint: {disabled: [{name: "*"}]}
    queueSort: {enabled: [{name: PrioritySort}]}
    bind: {enabled: [{name: DefaultBinder}]}
  pluginConfig: [{name: DefaultBinder, args: {b: 1, a: []}}]
)")
                                                  .configuration);
  EXPECT_EQ(yaml, R"(apiVersion: kubescheduler.config.k8s.io/v1
clientConnection:
  acceptContentTypes: ""
  burst: 100
  contentType: application/vnd.kubernetes.protobuf
  kubeconfig: ""
  qps: 0.1
enableContentionProfiling: true
enableProfiling: true
kind: KubeSchedulerConfiguration
leaderElection:
  leaderElect: true
  leaseDuration: 1m30s
  renewDeadline: 10s
  resourceLock: leases
  resourceName: kube-scheduler
  resourceNamespace: kube-system
  retryPeriod: 2s
parallelism: 16
percentageOfNodesToScore: 0
podInitialBackoffSeconds: 1
podMaxBackoffSeconds: 10
profiles:
- pluginConfig:
  - args:
      a: []
      b: 1
    name: DefaultBinder
  plugins:
    bind:
      enabled:
      - name: DefaultBinder
        weight: 0
    filter: {}
    multiPoint:
      disabled:
      - name: "*"
        weight: 0
    permit: {}
    placementGenerate: {}
    placementScore: {}
    podGroupPostFilter: {}
    postBind: {}
    postFilter: {}
    preBind: {}
    preEnqueue: {}
    preFilter: {}
    preScore: {}
    queueSort:
      enabled:
      - name: PrioritySort
        weight: 0
    reserve: {}
    score: {}
  schedulerName: default-scheduler
)");
}

TEST(WriteConfigurationTest, LeavesOutEmptyFieldsOfExtenders) {
  const auto configuration = Load(R"(extenders:
- urlPrefix: "http://a"
  filterVerb: filter
  weight: 0
  nodeCacheCapable: true
  tlsConfig: {insecure: false, keyData: a2V5}
)")
                                 .configuration;
  EXPECT_THAT(WriteConfiguration(configuration), HasSubstr(R"(extenders:
- filterVerb: filter
  httpTimeout: 5s
  nodeCacheCapable: true
  tlsConfig:
    keyData: a2V5
  urlPrefix: http://a
)"));
  EXPECT_THAT(Configz(configuration), Not(HasSubstr("a2V5")));
}

TEST(WriteConfigurationTest, ANumberWithoutAFractionIsAnInteger) {
  const std::string yaml =
      WriteConfiguration(LoadConfiguration(
                             R"({"apiVersion": "kubescheduler.config.k8s.io/v1",
              "kind": "KubeSchedulerConfiguration", "profiles": [
                {"pluginConfig": [{"name": "NodeName", "args": [1.0, 0.5]}]}
              ]})",
                             UpstreamFeatures())
                             .configuration);
  EXPECT_THAT(yaml, HasSubstr("  - args:\n    - 1\n    - 0.5\n"));
}

TEST(WriteConfigurationTest, WhatIsWrittenIsReadWithoutAChange) {
  const std::string yaml = WriteConfiguration(Load(R"(
delayCacheUntilActive: true
profiles:
- pluginConfig:
  - name: NodeAffinity
    args:
      addedAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          nodeSelectorTerms:
          - matchExpressions: [{key: a, operator: In, values: [b]}]
  - name: PodTopologySpread
    args:
      defaultingType: List
      defaultConstraints:
      - {maxSkew: 1, topologyKey: a, whenUnsatisfiable: DoNotSchedule}
)")
                                                  .configuration);
  EXPECT_EQ(WriteConfiguration(
                LoadConfiguration(yaml, UpstreamFeatures()).configuration),
            yaml);
}

}  // namespace
}  // namespace minisched
