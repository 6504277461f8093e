#include "minisched/config/merge.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace minisched {
namespace {

using Names = std::set<std::string, std::less<>>;
using Reason = PluginSetError::Reason;

Names NamesOf(const std::vector<PluginEntry>& plugins) {
  Names names;
  for (const PluginEntry& plugin : plugins) names.insert(plugin.name);
  return names;
}

// Expands the plugins of a profile.
class Expander {
 public:
  Expander(const PluginSets& sets, const PluginCatalog& catalog,
           std::vector<PluginSetError>& errors)
      : sets_(sets), catalog_(catalog), errors_(errors) {}

  ExpandedPlugins Expand() {
    CheckMultiPoint();
    ExpandedPlugins expanded;
    for (std::size_t i = 0; i < kExtensionPoints; ++i) {
      const auto point = static_cast<ExtensionPoint>(i);
      CheckPoint(point);
      expanded[point] = ExpandPoint(point);
    }
    const ExtensionPoint queue_sort = ExtensionPoint::kQueueSort;
    const ExtensionPoint bind = ExtensionPoint::kBind;
    const ExtensionPoint placement = ExtensionPoint::kPlacementGenerate;
    if (expanded[queue_sort].size() != 1) Fail(Reason::kQueueSort, queue_sort);
    if (expanded[bind].empty()) Fail(Reason::kNoBind, bind);
    if (expanded[placement].size() > 1) Fail(Reason::kPlacement, placement);
    SetWeights(expanded[ExtensionPoint::kScore]);
    return expanded;
  }

 private:
  void Fail(Reason reason, std::optional<ExtensionPoint> point,
            const std::string& plugin = "") {
    PluginSetError error{reason, point, plugin};
    // A plugin of multi_point that is repeated is so at each of its points.
    if (std::ranges::find(errors_, error) == errors_.end()) {
      errors_.push_back(std::move(error));
    }
  }

  bool Implements(const std::string& plugin, ExtensionPoint point) const {
    const auto known = catalog_.find(plugin);
    return known != catalog_.end() && known->second.contains(point);
  }

  void CheckMultiPoint() {
    for (const PluginEntry& plugin : sets_.multi_point.enabled) {
      if (!catalog_.contains(plugin.name)) {
        Fail(Reason::kUnknown, std::nullopt, plugin.name);
      }
    }
  }

  void CheckPoint(ExtensionPoint point) {
    Names seen;
    for (const PluginEntry& plugin : sets_[point].enabled) {
      if (!catalog_.contains(plugin.name)) {
        Fail(Reason::kUnknown, point, plugin.name);
      } else if (!Implements(plugin.name, point)) {
        Fail(Reason::kNotImplemented, point, plugin.name);
      } else if (!seen.insert(plugin.name).second) {
        Fail(Reason::kRepeated, point, plugin.name);
      }
    }
  }

  // Returns the plugins that the point gets from multi_point.
  std::vector<PluginEntry> FromMultiPoint(ExtensionPoint point) {
    const Names enabled = NamesOf(sets_[point].enabled);
    const Names disabled = NamesOf(sets_[point].disabled);
    std::vector<PluginEntry> plugins;
    Names seen;
    for (const PluginEntry& plugin : sets_.multi_point.enabled) {
      const std::string& name = plugin.name;
      if (!Implements(name, point) || disabled.contains(name)) continue;
      if (enabled.contains(name)) continue;
      if (!seen.insert(name).second) {
        Fail(Reason::kRepeated, std::nullopt, name);
      }
      plugins.push_back(plugin);
    }
    return plugins;
  }

  std::vector<PluginEntry> ExpandPoint(ExtensionPoint point) {
    const PluginSet& set = sets_[point];
    const Names disabled = NamesOf(set.disabled);
    if (disabled.contains("*")) return set.enabled;
    Names multi_point = NamesOf(sets_.multi_point.enabled);
    for (const std::string& name : disabled) multi_point.erase(name);
    std::vector<PluginEntry> plugins = set.enabled;
    const auto others = std::stable_partition(
        plugins.begin(), plugins.end(), [&](const PluginEntry& plugin) {
          return multi_point.contains(plugin.name);
        });
    const auto added = FromMultiPoint(point);
    plugins.insert(others, added.begin(), added.end());
    return plugins;
  }

  void SetWeights(std::vector<PluginEntry>& plugins) {
    std::map<std::string, std::int32_t, std::less<>> weights;
    std::int64_t total = 0;
    bool too_low = false;  // reported once
    const auto add = [&](const PluginEntry& plugin,
                         std::optional<ExtensionPoint> point) {
      if (!Implements(plugin.name, ExtensionPoint::kScore)) return;
      if (weights.contains(plugin.name)) return;
      // Upstream computes whether the total score can overflow. Weights of 32
      // bits can't, but its computation itself overflows below 0.
      if (total < 0 && !too_low) {
        Fail(Reason::kNegativeWeight, point, plugin.name);
        too_low = true;
      }
      const std::int32_t weight = plugin.weight == 0 ? 1 : plugin.weight;
      weights[plugin.name] = weight;
      total += weight;
    };
    const ExtensionPoint score = ExtensionPoint::kScore;
    for (const PluginEntry& plugin : sets_[score].enabled) add(plugin, score);
    for (const PluginEntry& plugin : sets_.multi_point.enabled) {
      add(plugin, std::nullopt);
    }
    for (PluginEntry& plugin : plugins) plugin.weight = weights[plugin.name];
  }

  const PluginSets& sets_;
  const PluginCatalog& catalog_;
  std::vector<PluginSetError>& errors_;
};

}  // namespace

PluginSet MergePluginSet(const PluginSet& defaults, const PluginSet& custom) {
  PluginSet merged;
  for (const auto* disabled : {&custom.disabled, &defaults.disabled}) {
    for (const PluginEntry& plugin : *disabled) {
      merged.disabled.push_back({.name = plugin.name});
    }
  }
  const Names disabled = NamesOf(merged.disabled);
  std::vector<bool> used(custom.enabled.size());
  for (const PluginEntry& plugin : defaults.enabled) {
    if (disabled.contains("*") || disabled.contains(plugin.name)) continue;
    // If the plugin is enabled twice, the last one replaces the default one.
    // The other one is kept, so that the expansion reports it.
    const auto replacement =
        std::ranges::find(custom.enabled.rbegin(), custom.enabled.rend(),
                          plugin.name, &PluginEntry::name);
    if (replacement == custom.enabled.rend()) {
      merged.enabled.push_back(plugin);
    } else {
      merged.enabled.push_back(*replacement);
      used[custom.enabled.rend() - replacement - 1] = true;
    }
  }
  for (std::size_t i = 0; i < custom.enabled.size(); ++i) {
    if (!used[i]) merged.enabled.push_back(custom.enabled[i]);
  }
  return merged;
}

PluginSets MergePlugins(const PluginSets& defaults, const PluginSets& custom) {
  PluginSets merged;
  merged.multi_point = MergePluginSet(defaults.multi_point, custom.multi_point);
  for (std::size_t i = 0; i < kExtensionPoints; ++i) {
    merged.points[i] = MergePluginSet(defaults.points[i], custom.points[i]);
  }
  return merged;
}

ExpandedPlugins ExpandPlugins(const PluginSets& sets,
                              const PluginCatalog& catalog,
                              std::vector<PluginSetError>& errors) {
  return Expander(sets, catalog, errors).Expand();
}

std::set<std::string, std::less<>> EnabledPlugins(const PluginSets& sets) {
  Names names = NamesOf(sets.multi_point.enabled);
  for (const PluginSet& set : sets.points) names.merge(NamesOf(set.enabled));
  return names;
}

}  // namespace minisched
