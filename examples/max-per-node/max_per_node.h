#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "framework/plugin.h"
#include "minisched/config/plugin_args.h"

namespace minisched {

// Puts at most N pods of a group on each node, and prefers the nodes that have
// the fewest of them. A group is the pods of one namespace with the same value
// of a label, by default `app`. N is the argument maxPerNode, or the value of
// the pod's label kLabel. An example: no scheduler of this book has the plugin.
class MaxPerNode final : public PreFilterPlugin,
                         public FilterPlugin,
                         public ScorePlugin {
 public:
  using Args = RawArgs;
  static constexpr std::string_view kLabel = "example.com/max-per-node";

  // Takes {"groupLabel": "app", "maxPerNode": 2}. Throws an exception if the
  // arguments are invalid.
  explicit MaxPerNode(const RawArgs& args = {}) {
    if (args.json.empty()) return;
    const auto json = nlohmann::json::parse(args.json);
    group_label_ = json.value("groupLabel", group_label_);
    max_per_node_ = json.value("maxPerNode", max_per_node_);
    if (max_per_node_ < 0) {
      throw std::invalid_argument("maxPerNode: must not be negative");
    }
  }

  std::string_view Name() const override { return "MaxPerNode"; }

  Status PreFilter(CycleState& state, const Pod& pod, const Nodes& /*nodes*/,
                   PreFilterResult& /*result*/) const override {
    std::int64_t most = Label(pod, group_label_).empty() ? 0 : max_per_node_;
    if (const std::string text = Label(pod, kLabel); !text.empty()) {
      const char* end = text.data() + text.size();
      const auto [rest, error] = std::from_chars(text.data(), end, most);
      if (error != std::errc() || rest != end || most < 1) {
        return {Code::kUnschedulableAndUnresolvable,
                "invalid label " + std::string(kLabel)};
      }
    }
    if (most == 0) return Code::kSkip;
    state.Write(Limit{most});
    return {};
  }

  Status Filter(const CycleState& state, const Pod& pod,
                const NodeInfo& node) const override {
    if (CountOn(node, pod) < state.Read<Limit>().pods) return {};
    return {Code::kUnschedulable, "node(s) reached max-per-node"};
  }

  Status Score(const CycleState& state, const Pod& pod, const NodeInfo& node,
               std::int64_t& score) const override {
    const auto* limit = state.Find<Limit>();
    if (!limit) return {};
    score = kMaxNodeScore - kMaxNodeScore * CountOn(node, pod) / limit->pods;
    return {};
  }

  std::vector<ClusterEventWithHint> EventsToRegister() const override {
    const auto after_pod_change = [this](const Pod& pod,
                                         const ClusterChange& change) {
      return AfterPodChange(pod, change);
    };
    return {{{EventResource::kNode, action::kAdd}},
            {{EventResource::kPod, action::kDelete | action::kUpdatePodLabel},
             after_pod_change}};
  }

 private:
  struct Limit {
    std::int64_t pods;
  };

  // Returns kQueue if the pod's own labels have changed, or if a node has one
  // pod less of the pod's group.
  QueueingHint AfterPodChange(const Pod& pod,
                              const ClusterChange& change) const {
    const auto before = change.Old<Pod>();
    const auto after = change.New<Pod>();
    if (after && after->metadata.uid == pod.metadata.uid) {
      return QueueingHint::kQueue;
    }
    const bool counted =
        !before->spec.node_name.empty() && SameGroup(*before, pod);
    return QueueIf(counted && !(after && SameGroup(*after, pod)));
  }

  bool SameGroup(const Pod& a, const Pod& b) const {
    return a.metadata.namespace_name == b.metadata.namespace_name &&
           Label(a, group_label_) == Label(b, group_label_);
  }

  std::int64_t CountOn(const NodeInfo& node, const Pod& pod) const {
    const auto& pods = node.pods();
    return std::count_if(pods.begin(), pods.end(), [&](const PodInfoPtr& info) {
      return SameGroup(*info->pod, pod);
    });
  }

  // Returns the label's value, or "" if the pod doesn't have the label.
  static std::string Label(const Pod& pod, std::string_view key) {
    const auto label = pod.metadata.labels.find(key);
    return label == pod.metadata.labels.end() ? "" : label->second;
  }

  std::string group_label_ = "app";
  std::int64_t max_per_node_ = 0;  // 0: only pods with kLabel are limited
};

}  // namespace minisched
