// kube-scheduler's plugins, for tests.

#pragma once

#include "minisched/config/support.h"

namespace minisched {

// Returns what kube-scheduler v1.37 can do, without the plugins that no step
// has.
inline SchedulerFeatures UpstreamFeatures() {
  using enum ExtensionPoint;
  const std::set<ExtensionPoint> filter = {kPreFilter, kFilter};
  const std::set<ExtensionPoint> score = {kPreFilter, kFilter, kPreScore,
                                          kScore};
  SchedulerFeatures features{
      .several_profiles = true, .extenders = true, .leader_election = true};
  features.plugins = {
      {"SchedulingGates", {kPreEnqueue}},
      {"PrioritySort", {kQueueSort}},
      {"NodeName", filter},
      {"NodeUnschedulable", filter},
      {"TaintToleration", score},
      {"NodeAffinity", score},
      {"NodePorts", filter},
      {"NodeResourcesFit",
       {kPreFilter, kFilter, kPreScore, kScore, kPlacementScore}},
      {"VolumeRestrictions", filter},
      {"VolumeBinding",
       {kPreFilter, kFilter, kPreScore, kScore, kReserve, kPreBind}},
      {"VolumeZone", filter},
      {"PodTopologySpread", score},
      {"InterPodAffinity", score},
      {"DefaultPreemption", {kPostFilter, kPreEnqueue, kPodGroupPostFilter}},
      {"NodeResourcesBalancedAllocation", {kPreScore, kScore}},
      {"ImageLocality", {kScore}},
      {"DefaultBinder", {kBind}}};
  for (const auto& [name, points] : features.plugins) {
    features.plugins_with_args.insert(name);
  }
  return features;
}

}  // namespace minisched
