#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/framework.h"
#include "framework/node_info.h"
#include "minisched/api/json.h"
#include "minisched/api/pod.h"
#include "plugins/registry.h"
#include "preemption/victims.h"
#include "tests/plugin_testing.h"
#include "tests/status_testing.h"

// Helpers for tests of preemption.

namespace minisched {

// A pod that requests cpu. Its uid is its name.
struct PodOptions {
  int priority = 0;
  int cpu = 1;
  std::string node = {};
  int started = -1;  // seconds; -1: it hasn't
  Labels labels = {};
};

inline Pod NewPodOf(const std::string& name, const PodOptions& options = {}) {
  Pod pod;
  pod.metadata.namespace_name = "default";
  pod.metadata.name = name;
  pod.metadata.uid = name;
  pod.metadata.resource_version = "1";
  pod.metadata.labels = options.labels;
  pod.spec.scheduler_name = "minisched";
  pod.spec.node_name = options.node;
  pod.spec.priority = options.priority;
  pod.spec.containers = {{.name = "c", .image = "i"}};
  pod.spec.containers[0].resources.requests["cpu"] =
      Quantity::FromValue(options.cpu);
  if (options.started >= 0) {
    pod.status.start_time = Time(std::chrono::seconds(options.started));
  }
  return pod;
}

inline Node NewNodeOf(const std::string& name, int cpu) {
  Node node;
  node.metadata.name = name;
  node.metadata.resource_version = "1";
  node.status.allocatable = {{"cpu", Quantity::FromValue(cpu)},
                             {"pods", Quantity::FromValue(110)}};
  return node;
}

inline std::shared_ptr<const PodDisruptionBudget> NewBudget(
    const std::string& app, int allowed) {
  PodDisruptionBudget budget;
  budget.metadata.namespace_name = "default";
  budget.metadata.name = app;
  budget.metadata.resource_version = "1";
  budget.spec.selector = LabelSelector{.match_labels = {{"app", app}}};
  budget.status.disruptions_allowed = allowed;
  return std::make_shared<const PodDisruptionBudget>(std::move(budget));
}

// Returns the budgets of all pods, which are in one namespace.
inline DisruptionBudgets NewBudgets(
    std::vector<std::shared_ptr<const PodDisruptionBudget>> budgets) {
  return DisruptionBudgets(
      [list = std::move(budgets)](const std::string&) { return list; });
}

// Returns "a b", the names of the victims.
inline std::string NamesOfVictims(const Candidate& candidate) {
  std::string names;
  for (const PodPtr& pod : candidate.victims) {
    names += (names.empty() ? "" : " ") + pod->metadata.name;
  }
  return names;
}

}  // namespace minisched
