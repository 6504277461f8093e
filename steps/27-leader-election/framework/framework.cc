#include "framework/framework.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "minisched/api/pod_preemption.h"

namespace minisched {
namespace {

// Appends the plugin to the list if it implements the list's interface.
template <class T>
void AddTo(std::vector<T*>& list, Plugin& plugin) {
  if (auto* implementation = dynamic_cast<T*>(&plugin)) {
    list.push_back(implementation);
  }
}

// Leaves only the plugins of `order` in the list, in this order.
template <class T>
void ArrangeList(std::vector<T*>& list, const std::vector<PluginEntry>& order) {
  std::vector<T*> arranged;
  for (const PluginEntry& entry : order) {
    arranged.push_back(*std::ranges::find(list, entry.name, &T::Name));
  }
  list = std::move(arranged);
}

// Returns true if the plugin implements one of the interfaces.
template <class... Interfaces>
bool ImplementsAny(const Plugin& plugin) {
  return ((dynamic_cast<const Interfaces*>(&plugin) != nullptr) || ...);
}

// Returns the status with the plugin's name, which an error's message has too.
Status FromFilter(const Status& status, const Plugin& plugin) {
  if (status.IsRejected()) return status.WithPlugin(plugin.Name());
  return Status(Code::kError, fmt::format("running \"{}\" filter plugin: {}",
                                          plugin.Name(), status.Message()))
      .WithPlugin(plugin.Name());
}

// Narrows `result` down to the nodes that are in both results.
void Merge(PreFilterResult& result, PreFilterResult other,
           std::string_view plugin) {
  if (!other.node_names) return;
  result.plugins.insert(plugin);
  if (result.node_names) {
    std::erase_if(*other.node_names, [&](const std::string& name) {
      return !result.node_names->contains(name);
    });
  }
  result.node_names = std::move(other.node_names);
}

Status NoNodesLeft(const std::set<std::string_view>& plugins) {
  return {
      Code::kUnschedulableAndUnresolvable,
      plugins.size() == 1
          ? fmt::format("node(s) didn't satisfy plugin {}", *plugins.begin())
          : fmt::format("node(s) didn't satisfy plugin(s) [{}] "
                        "simultaneously",
                        fmt::join(plugins, " "))};
}

Status ScoreError(std::string_view action, const Plugin& plugin,
                  const std::string& message) {
  return Status(Code::kError, fmt::format("{}: plugin \"{}\" failed with: {}",
                                          action, plugin.Name(), message))
      .WithPlugin(plugin.Name());
}

// Returns an error if a score is out of range after NormalizeScore.
Status CheckRange(const Plugin& plugin, const std::vector<NodeScore>& scores) {
  for (const NodeScore& score : scores) {
    if (score.score >= 0 && score.score <= kMaxNodeScore) continue;
    return Status(
               Code::kError,
               fmt::format("applying score defaultWeights on Score plugins: "
                           "plugin \"{}\" returns an invalid score {}, it "
                           "should in the range of [0, {}] after normalizing",
                           plugin.Name(), score.score, kMaxNodeScore))
        .WithPlugin(plugin.Name());
  }
  return {};
}

}  // namespace

void Framework::Add(std::unique_ptr<Plugin> plugin, std::int64_t weight) {
  AddTo(pre_enqueue_plugins_, *plugin);
  AddTo(queue_sort_plugins_, *plugin);
  AddTo(pre_filter_plugins_, *plugin);
  AddTo(filter_plugins_, *plugin);
  AddTo(post_filter_plugins_, *plugin);
  AddTo(pre_score_plugins_, *plugin);
  AddTo(score_plugins_, *plugin);
  score_plugin_weight_[plugin->Name()] = weight;
  AddTo(reserve_plugins_, *plugin);
  AddTo(permit_plugins_, *plugin);
  AddTo(pre_bind_plugins_, *plugin);
  AddTo(bind_plugins_, *plugin);
  AddTo(post_bind_plugins_, *plugin);
  if (ImplementsAny<PreEnqueuePlugin, PreFilterPlugin, FilterPlugin,
                    ReservePlugin, PermitPlugin>(*plugin)) {
    AddQueueingHints(*plugin);
  }
  plugins_.push_back(std::move(plugin));
}

void Framework::Arrange(const ExpandedPlugins& plugins) {
  using enum ExtensionPoint;
  ArrangeList(pre_enqueue_plugins_, plugins[kPreEnqueue]);
  ArrangeList(queue_sort_plugins_, plugins[kQueueSort]);
  ArrangeList(pre_filter_plugins_, plugins[kPreFilter]);
  ArrangeList(filter_plugins_, plugins[kFilter]);
  ArrangeList(post_filter_plugins_, plugins[kPostFilter]);
  ArrangeList(pre_score_plugins_, plugins[kPreScore]);
  ArrangeList(score_plugins_, plugins[kScore]);
  ArrangeList(reserve_plugins_, plugins[kReserve]);
  ArrangeList(permit_plugins_, plugins[kPermit]);
  ArrangeList(pre_bind_plugins_, plugins[kPreBind]);
  ArrangeList(bind_plugins_, plugins[kBind]);
  ArrangeList(post_bind_plugins_, plugins[kPostBind]);
  for (const PluginEntry& plugin : plugins[kScore]) {
    score_plugin_weight_.at(plugin.name) = plugin.weight;
  }
}

void Framework::AddQueueingHints(const Plugin& plugin) {
  for (ClusterEventWithHint& registered : plugin.EventsToRegister()) {
    queueing_hints_.push_back({plugin.Name(), std::move(registered)});
  }
}

void Framework::AddExtenderEvents() {
  for (const EventResource resource :
       {EventResource::kPod, EventResource::kNode,
        EventResource::kPersistentVolume, EventResource::kPersistentVolumeClaim,
        EventResource::kStorageClass, EventResource::kCSIDriver,
        EventResource::kCSIStorageCapacity}) {
    queueing_hints_.push_back({kExtenderName, {{resource, action::kAll}}});
  }
}

Status Framework::RunPreEnqueuePlugins(const Pod& pod) const {
  for (const PreEnqueuePlugin* plugin : pre_enqueue_plugins_) {
    const Status status = plugin->PreEnqueue(pod);
    if (!status.IsSuccess()) return status.WithPlugin(plugin->Name());
  }
  return {};
}

Status Framework::RunPreFilterPlugins(CycleState& state, const Pod& pod,
                                      const Nodes& nodes,
                                      PreFilterResult& result) const {
  state.pre_filter_plugins = pre_filter_plugins_;
  state.filter_plugins = filter_plugins_;
  Status unschedulable;
  for (const PreFilterPlugin* plugin : pre_filter_plugins_) {
    PreFilterResult left_over;
    const Status status = plugin->PreFilter(state, pod, nodes, left_over);
    state.report().Ran("PreFilter", plugin->Name(), status);
    switch (status.code()) {
      case Code::kSkip:
        std::erase(state.pre_filter_plugins, plugin);
        std::erase(state.filter_plugins,
                   dynamic_cast<const FilterPlugin*>(plugin));
        continue;
      case Code::kUnschedulable:
        unschedulable = status.WithPlugin(plugin->Name());
        continue;
      case Code::kUnschedulableAndUnresolvable:
        return status.WithPlugin(plugin->Name());
      case Code::kSuccess:
        Merge(result, std::move(left_over), plugin->Name());
        if (result.node_names && result.node_names->empty()) {
          return NoNodesLeft(result.plugins);
        }
        continue;
      default:
        return Status(Code::kError,
                      fmt::format("running PreFilter plugin \"{}\": {}",
                                  plugin->Name(), status.Message()))
            .WithPlugin(plugin->Name());
    }
  }
  return unschedulable;
}

void Framework::RunPreFilterExtensionAddPod(CycleState& state, const Pod& pod,
                                            const PodInfo& added,
                                            const NodeInfo& node) const {
  for (const PreFilterPlugin* plugin : state.pre_filter_plugins) {
    plugin->AddPod(state, pod, added, node);
  }
}

void Framework::RunPreFilterExtensionRemovePod(CycleState& state,
                                               const Pod& pod,
                                               const PodInfo& removed,
                                               const NodeInfo& node) const {
  for (const PreFilterPlugin* plugin : state.pre_filter_plugins) {
    plugin->RemovePod(state, pod, removed, node);
  }
}

Status Framework::RunFilterPlugins(const CycleState& state, const Pod& pod,
                                   const NodeInfo& node) const {
  return RunFilterPlugins(state, pod, node, state.report());
}

Status Framework::RunFilterPlugins(const CycleState& state, const Pod& pod,
                                   const NodeInfo& node,
                                   const AttemptReport& report) const {
  Status first;
  for (const FilterPlugin* plugin : state.filter_plugins) {
    const Status status = plugin->Filter(state, pod, node);
    if (status.IsSuccess()) continue;
    if (first.IsSuccess()) first = FromFilter(status, *plugin);
    // Only for a reader of the trace, the plugins that follow run too.
    const std::string& name = node.node().metadata.name;
    if (!report.Rejected(name, plugin->Name(), status)) break;
  }
  return first;
}

Status Framework::RunFilterPluginsWithNominatedPods(
    const CycleState& state, const Pod& pod, const NodeInfo& node,
    const std::vector<PodInfoPtr>& nominated) const {
  std::optional<NodeInfo> with_nominated;
  std::optional<CycleState> state_with_nominated;
  for (const PodInfoPtr& info : nominated) {
    if (info->pod->metadata.uid == pod.metadata.uid) continue;
    if (PodPriority(*info->pod) < PodPriority(pod)) continue;
    if (!with_nominated) {
      with_nominated = node;
      state_with_nominated = state;
    }
    with_nominated->AddPod(info);
    RunPreFilterExtensionAddPod(*state_with_nominated, pod, *info,
                                *with_nominated);
  }
  if (with_nominated) {
    Status status = RunFilterPlugins(*state_with_nominated, pod,
                                     *with_nominated, state.report());
    if (!status.IsSuccess()) return status;
  }
  return RunFilterPlugins(state, pod, node);
}

Status Framework::RunPostFilterPlugins(const CycleState& state, const Pod& pod,
                                       const NodeToStatus& statuses,
                                       NominatingInfo& nominating) const {
  std::vector<std::string> reasons;
  std::string_view first;
  for (PostFilterPlugin* plugin : post_filter_plugins_) {
    const Status status = plugin->PostFilter(state, pod, statuses, nominating);
    state.report().Ran("PostFilter", plugin->Name(), status,
                       nominating.node_name);
    if (status.code() != Code::kUnschedulable) {
      return status.WithPlugin(plugin->Name());
    }
    reasons.insert(reasons.end(), status.reasons().begin(),
                   status.reasons().end());
    if (first.empty()) first = plugin->Name();
  }
  return Status(Code::kUnschedulable, std::move(reasons)).WithPlugin(first);
}

Status Framework::RunPreScorePlugins(CycleState& state, const Pod& pod,
                                     const Nodes& nodes) const {
  state.score_plugins = score_plugins_;
  for (const PreScorePlugin* plugin : pre_score_plugins_) {
    const Status status = plugin->PreScore(state, pod, nodes);
    state.report().Ran("PreScore", plugin->Name(), status);
    if (status.code() == Code::kSkip) {
      std::erase(state.score_plugins, dynamic_cast<const ScorePlugin*>(plugin));
    } else if (!status.IsSuccess()) {
      return Status(Code::kError,
                    fmt::format("running PreScore plugin \"{}\": {}",
                                plugin->Name(), status.Message()))
          .WithPlugin(plugin->Name());
    }
  }
  return {};
}

tl::expected<std::vector<PluginNodeScores>, Status> Framework::RunScorePlugins(
    const CycleState& state, const Pod& pod, const Nodes& nodes) const {
  std::vector<PluginNodeScores> all;
  for (const ScorePlugin* plugin : state.score_plugins) {
    PluginNodeScores scores{.plugin = plugin->Name(),
                            .weight = score_plugin_weight_.at(plugin->Name())};
    for (const NodeInfo* node : nodes) {
      std::int64_t& score = scores.raw.emplace_back(0);
      const Status status = plugin->Score(state, pod, *node, score);
      if (!status.IsSuccess()) {
        return tl::unexpected(
            ScoreError("running Score plugins", *plugin, status.Message()));
      }
      scores.normalized.push_back({node, score});
    }
    Status status = plugin->NormalizeScore(state, pod, scores.normalized);
    if (!status.IsSuccess()) {
      return tl::unexpected(ScoreError("running Normalize on Score plugins",
                                       *plugin, status.Message()));
    }
    status = CheckRange(*plugin, scores.normalized);
    if (!status.IsSuccess()) return tl::unexpected(status);
    state.report().Scored(scores.plugin, scores.weight, scores.raw,
                          scores.normalized);
    all.push_back(std::move(scores));
  }
  return all;
}

}  // namespace minisched
