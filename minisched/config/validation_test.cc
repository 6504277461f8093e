#include "minisched/config/validation.h"

#include <gmock/gmock.h>

#include <chrono>

#include "minisched/config/defaults.h"

namespace minisched {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class ValidateConfigurationTest : public testing::Test {
 protected:
  ValidateConfigurationTest() {
    configuration_.profiles = {{.scheduler_name = "a"}};
    SetDefaults(configuration_);
  }

  // Returns the paths of the errors.
  std::vector<std::string> Paths() const {
    FieldErrors errors;
    ValidateConfiguration(configuration_, errors);
    std::vector<std::string> paths;
    for (const FieldError& error : errors) paths.push_back(error.path);
    return paths;
  }

  KubeSchedulerConfiguration configuration_;
};

TEST_F(ValidateConfigurationTest, TheDefaultIsValid) {
  EXPECT_THAT(Paths(), IsEmpty());
}

TEST_F(ValidateConfigurationTest, ChecksNumbers) {
  configuration_.parallelism = 0;
  configuration_.percentage_of_nodes_to_score = 101;
  configuration_.pod_initial_backoff_seconds = 0;
  configuration_.pod_max_backoff_seconds = -1;
  configuration_.client_connection.burst = -1;
  configuration_.profiles[0].percentage_of_nodes_to_score = -1;
  EXPECT_THAT(Paths(), UnorderedElementsAre(
                           "parallelism", "percentageOfNodesToScore",
                           "podInitialBackoffSeconds", "podMaxBackoffSeconds",
                           "clientConnection.burst",
                           "profiles[0].percentageOfNodesToScore"));
}

TEST_F(ValidateConfigurationTest, ChecksLeaderElectionUnlessItIsOff) {
  configuration_.leader_election.lease_duration = seconds(10);
  configuration_.leader_election.retry_period = seconds(-1);
  configuration_.leader_election.resource_lock = "endpoints";
  EXPECT_THAT(Paths(), UnorderedElementsAre("leaderElection.leaseDuration",
                                            "leaderElection.retryPeriod",
                                            "leaderElection.resourceLock"));
  configuration_.leader_election.leader_elect = false;
  EXPECT_THAT(Paths(), IsEmpty());
}

TEST_F(ValidateConfigurationTest, ProfilesHaveDifferentNames) {
  configuration_.profiles.push_back(configuration_.profiles[0]);
  EXPECT_THAT(Paths(), ElementsAre("profiles[1].schedulerName"));
  configuration_.profiles[0].scheduler_name = "";
  EXPECT_THAT(Paths(), ElementsAre("profiles[0].schedulerName"));
}

TEST_F(ValidateConfigurationTest, AllProfilesSortTheQueueInTheSameWay) {
  configuration_.profiles.push_back({.scheduler_name = "b"});
  configuration_.profiles[1].plugins[ExtensionPoint::kQueueSort].enabled = {
      {"Mine"}};
  EXPECT_THAT(Paths(), ElementsAre("profiles[1].plugins.queueSort"));
  configuration_.profiles[0].plugins[ExtensionPoint::kQueueSort].enabled = {
      {"Mine"}};
  EXPECT_THAT(Paths(), IsEmpty());
  configuration_.profiles[1].plugin_config = {{"Mine", RawArgs{"{}"}}};
  EXPECT_THAT(Paths(), ElementsAre("profiles[1].pluginConfig[0].args"));
}

TEST_F(ValidateConfigurationTest, APluginIsConfiguredOnce) {
  configuration_.profiles[0].plugin_config = {{"Mine", {}}, {"Mine", {}}};
  EXPECT_THAT(Paths(), ElementsAre("profiles[0].pluginConfig[1]"));
}

TEST_F(ValidateConfigurationTest, ChecksExtenders) {
  configuration_.extenders = {
      {.prioritize_verb = "prioritize", .bind_verb = "bind"},
      {.bind_verb = "bind",
       .managed_resources = {{"example.com/a"}, {"example.com/a"}, {"cpu"}}}};
  EXPECT_THAT(Paths(),
              UnorderedElementsAre("extenders", "extenders[0].weight",
                                   "extenders[1].managedResources[1].name",
                                   "extenders[1].managedResources[2].name"));
}

// The scores of extenders are added up: a sum must not overflow.
TEST_F(ValidateConfigurationTest, TheWeightOfAnExtenderHasALimit) {
  configuration_.extenders = {
      {.prioritize_verb = "prioritize", .weight = 2'147'483'647}};
  EXPECT_THAT(Paths(), IsEmpty());
  configuration_.extenders[0].weight = 2'147'483'648;
  EXPECT_THAT(Paths(), ElementsAre("extenders[0].weight"));
  configuration_.extenders[0].prioritize_verb.clear();
  EXPECT_THAT(Paths(), ElementsAre("extenders[0].weight"));
  configuration_.extenders[0].weight = -1;
  EXPECT_THAT(Paths(), IsEmpty()) << "without a verb, nothing is added";
}

TEST_F(ValidateConfigurationTest, IgnoredResourcesNeedNodeResourcesFit) {
  configuration_.extenders = {
      {.managed_resources = {
           {.name = "example.com/a", .ignored_by_scheduler = true}}}};
  configuration_.profiles[0].plugin_config.clear();
  EXPECT_THAT(Paths(), ElementsAre("profiles[0].plugins"));
  configuration_.profiles[0].plugin_config = {
      {"NodeResourcesFit", NodeResourcesFitArgs()}};
  EXPECT_THAT(Paths(), IsEmpty());
}

TEST_F(ValidateConfigurationTest, ArgumentsOfFitCountOnlyIfItIsEnabled) {
  NodeResourcesFitArgs args;
  args.scoring_strategy->type = "Best";
  KubeSchedulerProfile& profile = configuration_.profiles[0];
  profile.plugin_config = {{"NodeResourcesFit", args}};
  EXPECT_THAT(
      Paths(),
      ElementsAre("profiles[0].pluginConfig[0].args.scoringStrategy.type"));
  profile.plugins.multi_point.enabled = {};
  EXPECT_THAT(Paths(), IsEmpty());
}

// Returns the errors as "path: message".
std::vector<std::string> ArgsErrorsOf(const PluginArgs& args) {
  FieldErrors errors;
  ValidatePluginArgs(args, "", errors);
  std::vector<std::string> texts;
  for (const auto& [path, message] : errors) {
    texts.push_back(path + ": " + message);
  }
  return texts;
}

TEST(ValidatePluginArgsTest, DefaultsAreValid) {
  for (const char* plugin :
       {"DefaultPreemption", "DynamicResources", "InterPodAffinity",
        "NodeAffinity", "NodeResourcesBalancedAllocation", "NodeResourcesFit",
        "PodTopologySpread", "VolumeBinding", "NodeName"}) {
    EXPECT_THAT(ArgsErrorsOf(DefaultPluginArgs(plugin)), IsEmpty()) << plugin;
  }
}

TEST(ValidatePluginArgsTest, DefaultPreemption) {
  EXPECT_THAT(ArgsErrorsOf(DefaultPreemptionArgs{101, -1}),
              ElementsAre("minCandidateNodesPercentage: must be between 0 and "
                          "100",
                          "minCandidateNodesAbsolute: must not be negative"));
  EXPECT_THAT(ArgsErrorsOf(DefaultPreemptionArgs{0, 0}),
              ElementsAre("minCandidateNodesPercentage: must not be 0 if "
                          "minCandidateNodesAbsolute is",
                          "minCandidateNodesAbsolute: must not be 0 if "
                          "minCandidateNodesPercentage is"));
}

TEST(ValidatePluginArgsTest, NodeAffinity) {
  NodeAffinityArgs args;
  args.added_affinity.emplace();
  args.added_affinity->required = NodeSelector{
      {NodeSelectorTerm{}, {.match_expressions = {{"a", "Exits", {}}}}}};
  args.added_affinity->preferred = {
      {.weight = 0, .preference = {.match_expressions = {{"a", "Exits"}}}},
      {.weight = 1, .preference = {.match_fields = {{"a", "In"}}}}};
  EXPECT_THAT(
      ArgsErrorsOf(args),
      ElementsAre(
          testing::StartsWith(
              "addedAffinity.requiredDuringSchedulingIgnoredDuringExecution."
              "nodeSelectorTerms[1].matchExpressions[0].operator: "),
          testing::StartsWith(
              "addedAffinity.preferredDuringSchedulingIgnoredDuringExecution"
              "[1].preference.matchFields[0].values: ")));
}

TEST(ValidatePluginArgsTest, NodeResourcesFit) {
  NodeResourcesFitArgs args;
  args.ignored_resources = {"a b"};
  args.ignored_resource_groups = {"example.com/a"};
  args.scoring_strategy->resources = {{"cpu", 101}};
  EXPECT_THAT(
      ArgsErrorsOf(args),
      ElementsAre(testing::StartsWith("ignoredResources[0]: "),
                  "ignoredResourceGroups[0]: must not contain a slash",
                  "scoringStrategy.resources[0].weight: must be between 1 and "
                  "100"));
}

TEST(ValidatePluginArgsTest, RequestedToCapacityRatio) {
  NodeResourcesFitArgs args;
  args.scoring_strategy->type = "RequestedToCapacityRatio";
  EXPECT_THAT(ArgsErrorsOf(args),
              ElementsAre("scoringStrategy.requestedToCapacityRatio: is "
                          "required by the type RequestedToCapacityRatio"));
  auto& shape =
      args.scoring_strategy->requested_to_capacity_ratio.emplace().shape;
  EXPECT_THAT(ArgsErrorsOf(args),
              ElementsAre("scoringStrategy.requestedToCapacityRatio.shape: "
                          "needs at least one point"));
  shape = {{10, 11}, {10, 0}};
  EXPECT_THAT(
      ArgsErrorsOf(args),
      ElementsAre("scoringStrategy.requestedToCapacityRatio.shape[0].score: "
                  "must be between 0 and 10",
                  "scoringStrategy.requestedToCapacityRatio.shape[1]."
                  "utilization: must be greater than that before"));
  args.scoring_strategy->type = "MostAllocated";
  EXPECT_THAT(
      ArgsErrorsOf(args),
      ElementsAre("scoringStrategy.requestedToCapacityRatio: must not be set "
                  "unless the type is RequestedToCapacityRatio"));
}

TEST(ValidatePluginArgsTest, PodTopologySpread) {
  PodTopologySpreadArgs args;
  args.default_constraints = {
      {1, "zone", "DoNotSchedule"},
      {0, "", "Never", LabelSelector()},
      {2, "zone", "DoNotSchedule"},
  };
  EXPECT_THAT(
      ArgsErrorsOf(args),
      ElementsAre(
          "defaultingType: must be List, because there are defaultConstraints",
          "defaultConstraints[1].maxSkew: must be greater than 0",
          "defaultConstraints[1].topologyKey: is required",
          "defaultConstraints[1].whenUnsatisfiable: must be DoNotSchedule or "
          "ScheduleAnyway",
          "defaultConstraints[1].labelSelector: must not be set: it is found "
          "for each pod",
          "defaultConstraints[2]: repeats a topologyKey and "
          "whenUnsatisfiable"));
}

TEST(ValidatePluginArgsTest, Others) {
  EXPECT_THAT(ArgsErrorsOf(InterPodAffinityArgs{101}),
              ElementsAre("hardPodAffinityWeight: must be between 0 and 100"));
  EXPECT_THAT(ArgsErrorsOf(NodeResourcesBalancedAllocationArgs{
                  {{"cpu", 1}, {"cpu", 2}}}),
              ElementsAre("resources[1].name: is repeated",
                          "resources[1].weight: must be 1"));
  EXPECT_THAT(ArgsErrorsOf(VolumeBindingArgs{-1, {{101, 0}}}),
              ElementsAre("bindTimeoutSeconds: must not be negative",
                          "shape[0].utilization: must be between 0 and 100"));
  EXPECT_THAT(ArgsErrorsOf(DynamicResourcesArgs{seconds(-1), seconds(0)}),
              ElementsAre("filterTimeout: must not be negative",
                          "bindingTimeout: must be at least 1s"));
}

}  // namespace
}  // namespace minisched
