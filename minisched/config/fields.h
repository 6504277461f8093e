#pragma once

// The fields of a configuration, in the form of api/codec.h. Only for .cc files
// of minisched/config, because this header includes the JSON library.

#include <string>

#include "minisched/api/codec.h"
#include "minisched/config/configuration.h"

namespace minisched {

template <class Visitor, MaybeConst<ResourceSpec> T>
void VisitFields(Visitor& visit, T& resource) {
  visit("name", resource.name);
  visit("weight", resource.weight);
}

template <class Visitor, MaybeConst<UtilizationShapePoint> T>
void VisitFields(Visitor& visit, T& point) {
  visit("utilization", point.utilization);
  visit("score", point.score);
}

template <class Visitor, MaybeConst<RequestedToCapacityRatioParam> T>
void VisitFields(Visitor& visit, T& param) {
  visit("shape", param.shape);
}

template <class Visitor, MaybeConst<ScoringStrategy> T>
void VisitFields(Visitor& visit, T& strategy) {
  visit("type", strategy.type);
  visit("resources", strategy.resources);
  visit("requestedToCapacityRatio", strategy.requested_to_capacity_ratio);
}

template <class Visitor, MaybeConst<DefaultPreemptionArgs> T>
void VisitFields(Visitor& visit, T& args) {
  visit("minCandidateNodesPercentage", args.min_candidate_nodes_percentage);
  visit("minCandidateNodesAbsolute", args.min_candidate_nodes_absolute);
}

template <class Visitor, MaybeConst<DynamicResourcesArgs> T>
void VisitFields(Visitor& visit, T& args) {
  visit("filterTimeout", args.filter_timeout);
  visit("bindingTimeout", args.binding_timeout);
}

template <class Visitor, MaybeConst<InterPodAffinityArgs> T>
void VisitFields(Visitor& visit, T& args) {
  visit("hardPodAffinityWeight", args.hard_pod_affinity_weight);
  visit("ignorePreferredTermsOfExistingPods",
        args.ignore_preferred_terms_of_existing_pods);
}

template <class Visitor, MaybeConst<NodeAffinityArgs> T>
void VisitFields(Visitor& visit, T& args) {
  visit("addedAffinity", args.added_affinity);
}

template <class Visitor, MaybeConst<NodeResourcesBalancedAllocationArgs> T>
void VisitFields(Visitor& visit, T& args) {
  visit("resources", args.resources);
}

template <class Visitor, MaybeConst<NodeResourcesFitArgs> T>
void VisitFields(Visitor& visit, T& args) {
  visit("ignoredResources", args.ignored_resources);
  visit("ignoredResourceGroups", args.ignored_resource_groups);
  visit("scoringStrategy", args.scoring_strategy);
}

template <class Visitor, MaybeConst<PodTopologySpreadArgs> T>
void VisitFields(Visitor& visit, T& args) {
  visit("defaultConstraints", args.default_constraints);
  visit("defaultingType", args.defaulting_type);
}

template <class Visitor, MaybeConst<VolumeBindingArgs> T>
void VisitFields(Visitor& visit, T& args) {
  visit("bindTimeoutSeconds", args.bind_timeout_seconds);
  visit("shape", args.shape);
}

template <class Visitor, MaybeConst<PluginEntry> T>
void VisitFields(Visitor& visit, T& plugin) {
  visit("name", plugin.name);
  visit("weight", plugin.weight);
}

template <class Visitor, MaybeConst<PluginSet> T>
void VisitFields(Visitor& visit, T& set) {
  visit("enabled", set.enabled);
  visit("disabled", set.disabled);
}

template <class Visitor, MaybeConst<PluginSets> T>
void VisitFields(Visitor& visit, T& sets) {
  visit("multiPoint", sets.multi_point);
  for (std::size_t i = 0; i < kExtensionPoints; ++i) {
    visit(kExtensionPointNames[i], sets.points[i]);
  }
}

template <class Visitor, MaybeConst<KubeSchedulerProfile> T>
void VisitFields(Visitor& visit, T& profile) {
  visit("schedulerName", profile.scheduler_name);
  visit("percentageOfNodesToScore", profile.percentage_of_nodes_to_score);
  visit("plugins", profile.plugins);
  visit("pluginConfig", profile.plugin_config);
}

template <class Visitor, MaybeConst<LeaderElectionConfiguration> T>
void VisitFields(Visitor& visit, T& election) {
  visit("leaderElect", election.leader_elect);
  visit("leaseDuration", election.lease_duration);
  visit("renewDeadline", election.renew_deadline);
  visit("retryPeriod", election.retry_period);
  visit("resourceLock", election.resource_lock);
  visit("resourceName", election.resource_name);
  visit("resourceNamespace", election.resource_namespace);
}

template <class Visitor, MaybeConst<ClientConnectionConfiguration> T>
void VisitFields(Visitor& visit, T& connection) {
  visit("kubeconfig", connection.kubeconfig);
  visit("acceptContentTypes", connection.accept_content_types);
  visit("contentType", connection.content_type);
  visit("qps", connection.qps);
  visit("burst", connection.burst);
}

template <class Visitor, MaybeConst<ExtenderTlsConfig> T>
void VisitFields(Visitor& visit, T& tls) {
  visit("insecure", tls.insecure);
  visit("serverName", tls.server_name);
  visit("certFile", tls.cert_file);
  visit("keyFile", tls.key_file);
  visit("caFile", tls.ca_file);
  visit("certData", tls.cert_data);
  visit("keyData", tls.key_data);
  visit("caData", tls.ca_data);
}

template <class Visitor, MaybeConst<ExtenderManagedResource> T>
void VisitFields(Visitor& visit, T& resource) {
  visit("name", resource.name);
  visit("ignoredByScheduler", resource.ignored_by_scheduler);
}

template <class Visitor, MaybeConst<ExtenderConfig> T>
void VisitFields(Visitor& visit, T& extender) {
  visit("urlPrefix", extender.url_prefix);
  visit("filterVerb", extender.filter_verb);
  visit("preemptVerb", extender.preempt_verb);
  visit("prioritizeVerb", extender.prioritize_verb);
  visit("weight", extender.weight);
  visit("bindVerb", extender.bind_verb);
  visit("enableHTTPS", extender.enable_https);
  visit("tlsConfig", extender.tls_config);
  visit("httpTimeout", extender.http_timeout);
  visit("nodeCacheCapable", extender.node_cache_capable);
  visit("managedResources", extender.managed_resources);
  visit("ignorable", extender.ignorable);
}

template <class Visitor, MaybeConst<KubeSchedulerConfiguration> T>
void VisitFields(Visitor& visit, T& configuration) {
  visit("parallelism", configuration.parallelism);
  visit("leaderElection", configuration.leader_election);
  visit("clientConnection", configuration.client_connection);
  visit("enableProfiling", configuration.enable_profiling);
  visit("enableContentionProfiling", configuration.enable_contention_profiling);
  visit("percentageOfNodesToScore", configuration.percentage_of_nodes_to_score);
  visit("podInitialBackoffSeconds", configuration.pod_initial_backoff_seconds);
  visit("podMaxBackoffSeconds", configuration.pod_max_backoff_seconds);
  visit("profiles", configuration.profiles);
  visit("extenders", configuration.extenders);
  visit("delayCacheUntilActive", configuration.delay_cache_until_active);
}

// Returns the kind of a plugin's arguments.
inline std::string ArgsKind(std::string_view plugin) {
  return std::string(plugin) + "Args";
}

}  // namespace minisched
