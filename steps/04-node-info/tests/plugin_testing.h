#pragma once

#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "framework/framework.h"
#include "framework/node_info.h"
#include "minisched/api/json.h"

// Helpers for tests of plugins.

namespace minisched {

// Parses resources: "cpu=1m memory=20".
inline ResourceList Resources(const std::string& text) {
  ResourceList list;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    list[word.substr(0, equals)] = Quantity::Parse(word.substr(equals + 1));
  }
  return list;
}

// Returns a pod with this spec, which is JSON.
inline Pod PodOfSpec(const std::string& spec) {
  return FromJson<Pod>(R"({"spec":)" + spec + "}");
}

// Returns a node with these pods.
inline NodeInfo NodeWithPods(Node node, const std::vector<Pod>& pods) {
  NodeInfo info(std::make_shared<const Node>(std::move(node)));
  for (const Pod& pod : pods) {
    info.AddPod(NewPodInfo(std::make_shared<const Pod>(pod)));
  }
  return info;
}

// The results of a plugin for a pod and a node.
struct PluginResult {
  Status pre_filter;
  PreFilterResult left_over;
  Status filter;  // success if Filter did not run
};

// Runs PreFilter and, if PreFilter returns success, Filter.
template <class Plugin>
PluginResult RunPlugin(const Pod& pod, const NodeInfo& node) {
  const Plugin plugin;
  PluginResult result;
  CycleState state;
  result.pre_filter = plugin.PreFilter(state, pod, {&node}, result.left_over);
  if (result.pre_filter.IsSuccess()) {
    result.filter = plugin.Filter(state, pod, node);
  }
  return result;
}

}  // namespace minisched
