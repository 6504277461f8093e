#include "minisched/config/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/join.hpp>
#include <map>
#include <utility>

#include "minisched/api/json_path.h"
#include "minisched/base/printable.h"
#include "minisched/config/defaults.h"
#include "minisched/config/read.h"
#include "minisched/config/suggest.h"
#include "minisched/config/validation.h"

namespace minisched {
namespace {

using Names = std::set<std::string, std::less<>>;

// Loads the configuration of one file.
class Loader {
 public:
  Loader(ConfigurationSource source, const SchedulerFeatures& features)
      : features_(features),
        written_(source.configuration),
        configuration_(std::move(source.configuration)),
        read_errors_(std::move(source.errors)),
        lines_(std::move(source.lines)) {
    for (const auto& [name, points] : features.plugins) plugins_.insert(name);
  }

  LoadedConfiguration Load(const ConfigurationChange& change) {
    SetDefaults(configuration_);
    change(configuration_);
    ValidateConfiguration(configuration_, errors_);
    CheckSupport(configuration_, features_, errors_);
    for (std::size_t i = 0; i < configuration_.profiles.size(); ++i) {
      CheckPlugins(i);
      WarnOfProfile(i);
    }
    ThrowErrors();
    Complete();
    return {std::move(configuration_), Describe(warnings_)};
  }

 private:
  void CheckPlugins(std::size_t profile) {
    std::vector<PluginSetError> errors;
    const PluginSets& sets = configuration_.profiles[profile].plugins;
    const auto expanded = ExpandPlugins(sets, features_.plugins, errors);
    for (const PluginSetError& error : errors) AddError(profile, error);
    if (!errors.empty()) return;
    CheckQueueSort(profile, expanded);
    using enum ExtensionPoint;
    CheckPreparation(profile, expanded, kPreFilter, kFilter);
    CheckPreparation(profile, expanded, kPreFilter, kReserve);
    CheckPreparation(profile, expanded, kPreScore, kScore);
  }

  // At a point such as Filter, a plugin uses what it has computed before, such
  // as in PreFilter. Some of upstream's plugins can do without this.
  void CheckPreparation(std::size_t profile, const ExpandedPlugins& expanded,
                        ExtensionPoint before, ExtensionPoint point) {
    for (const PluginEntry& plugin : expanded[point]) {
      const std::string& name = plugin.name;
      if (!features_.plugins.at(name).contains(before) ||
          std::ranges::count(expanded[before], name, &PluginEntry::name) > 0) {
        continue;
      }
      errors_.push_back(
          {PathOf(profile, before),
           fmt::format("this scheduler's {} can't run at {} without {}", name,
                       ToString(point), ToString(before))});
    }
  }

  // All profiles must sort the queue in the same way, also by plugins that they
  // get from multiPoint, and with the same arguments.
  void CheckQueueSort(std::size_t profile, const ExpandedPlugins& expanded) {
    PluginConfig sort{expanded[ExtensionPoint::kQueueSort].front().name, {}};
    const auto& configs = configuration_.profiles[profile].plugin_config;
    const auto config =
        std::ranges::find(configs, sort.name, &PluginConfig::name);
    if (config != configs.end()) sort.args = config->args;
    if (!queue_sort_) queue_sort_ = sort;
    if (sort == *queue_sort_) return;
    FieldError error{PathOf(profile, ExtensionPoint::kQueueSort),
                     "must be the same in all profiles"};
    // Validation has found the same if the sets of the profiles differ.
    if (std::ranges::find(errors_, error) == errors_.end()) {
      errors_.push_back(std::move(error));
    }
  }

  static std::string PathOf(std::size_t profile,
                            std::optional<ExtensionPoint> point) {
    const std::string plugins = ElementPath("profiles", profile) + ".plugins";
    return MemberPath(plugins, point ? ToString(*point) : "multiPoint");
  }

  // Adds an error at the place of the plugin in the file, which differs from
  // its place among the default plugins.
  void AddError(std::size_t profile, const PluginSetError& error) {
    const PluginSets& sets = written_.profiles[profile].plugins;
    const auto& enabled =
        (error.point ? sets[*error.point] : sets.multi_point).enabled;
    std::string path = PathOf(profile, error.point);
    const auto plugin = std::ranges::find(enabled.rbegin(), enabled.rend(),
                                          error.plugin, &PluginEntry::name);
    if (plugin != enabled.rend()) {
      path = ElementPath(path + ".enabled", enabled.rend() - plugin - 1);
    }
    errors_.push_back({std::move(path), Message(error)});
  }

  std::string Message(const PluginSetError& error) const {
    using Reason = PluginSetError::Reason;
    const std::string plugin = Quoted(error.plugin);
    switch (error.reason) {
      case Reason::kUnknown:
        return Unknown(error.plugin);
      case Reason::kNotImplemented:
        return fmt::format("the plugin {} does not implement {}", plugin,
                           ToString(*error.point));
      case Reason::kRepeated:
        return fmt::format("the plugin {} is enabled twice", plugin);
      case Reason::kQueueSort:
        return "exactly one plugin must be enabled";
      case Reason::kNoBind:
        return "at least one plugin must be enabled";
      case Reason::kPlacement:
        return "at most one plugin can be enabled";
      case Reason::kNegativeWeight:
        return "the weights up to here add up to less than 0";
    }
    return "";
  }

  std::string Unknown(const std::string& plugin) const {
    return fmt::format(
        "this scheduler has no plugin {}{}", Quoted(plugin),
        IsUpstreamPlugin(plugin) ? "" : Suggest(plugin, plugins_));
  }

  void WarnOfProfile(std::size_t index) {
    const KubeSchedulerProfile& profile = written_.profiles[index];
    const std::string path = ElementPath("profiles", index);
    const Names enabled =
        EnabledPlugins(configuration_.profiles[index].plugins);
    for (std::size_t i = 0; i < profile.plugin_config.size(); ++i) {
      const std::string& name = profile.plugin_config[i].name;
      if (enabled.contains(name)) continue;
      const std::string why =
          plugins_.contains(name) ? "the plugin is not enabled" : Unknown(name);
      warnings_.push_back({ElementPath(path + ".pluginConfig", i),
                           "the arguments have no effect: " + why});
    }
    const PluginSets& sets = profile.plugins;
    WarnOfDisabled(sets.multi_point, PathOf(index, std::nullopt));
    for (std::size_t i = 0; i < kExtensionPoints; ++i) {
      WarnOfDisabled(sets.points[i],
                     PathOf(index, static_cast<ExtensionPoint>(i)));
    }
  }

  void WarnOfDisabled(const PluginSet& set, const std::string& path) {
    for (std::size_t i = 0; i < set.disabled.size(); ++i) {
      const std::string& name = set.disabled[i].name;
      if (name == "*" || plugins_.contains(name) || IsUpstreamPlugin(name)) {
        continue;
      }
      warnings_.push_back({ElementPath(path + ".disabled", i),
                           "disables nothing: " + Unknown(name)});
    }
  }

  // Throws the errors. A field that couldn't be read has a default, whose
  // errors would be confusing.
  void ThrowErrors() {
    std::erase_if(errors_, [&](const FieldError& error) {
      return std::ranges::any_of(read_errors_, [&](const FieldError& read) {
        return error.path.starts_with(read.path) ||
               read.path.starts_with(error.path);
      });
    });
    errors_.insert(errors_.begin(), read_errors_.begin(), read_errors_.end());
    if (!errors_.empty()) throw ConfigurationError(Describe(errors_));
  }

  std::vector<std::string> Describe(FieldErrors errors) const {
    std::ranges::stable_sort(errors, {}, [&](const FieldError& error) {
      return FindLine(lines_, error.path);
    });
    std::vector<std::string> described;
    for (const auto& [path, message] : errors) {
      const int line = FindLine(lines_, path);
      const std::string text = Printable(
          path.empty() ? message : fmt::format("{}: {}", path, message));
      described.push_back(line == 0 ? text
                                    : fmt::format("line {}: {}", line, text));
    }
    return described;
  }

  void Complete() {
    auto& elect = configuration_.leader_election.leader_elect;
    elect = elect.value_or(features_.leader_election);
    const std::vector<std::string> ignored = IgnoredResources(configuration_);
    for (KubeSchedulerProfile& profile : configuration_.profiles) {
      const Names enabled = EnabledPlugins(profile.plugins);
      std::erase_if(profile.plugin_config, [&](const PluginConfig& config) {
        return !enabled.contains(config.name) ||
               config.args == PluginArgs(RawArgs());
      });
      std::ranges::sort(profile.plugin_config, {}, &PluginConfig::name);
      if (!ignored.empty()) Ignore(ignored, profile);
    }
  }

  // As upstream, replaces the ignored resources of NodeResourcesFit.
  static void Ignore(const std::vector<std::string>& resources,
                     KubeSchedulerProfile& profile) {
    for (PluginConfig& config : profile.plugin_config) {
      auto* args = std::get_if<NodeResourcesFitArgs>(&config.args);
      if (args != nullptr) args->ignored_resources = resources;
    }
  }

  const SchedulerFeatures& features_;
  Names plugins_;                             // those that the scheduler has
  const KubeSchedulerConfiguration written_;  // as in the file
  KubeSchedulerConfiguration configuration_;
  const FieldErrors read_errors_;
  const std::map<std::string, int, std::less<>> lines_;
  std::optional<PluginConfig> queue_sort_;  // of the first profile
  FieldErrors errors_;
  FieldErrors warnings_;
};

}  // namespace

ConfigurationError::ConfigurationError(std::vector<std::string> errors)
    : ParseError(boost::algorithm::join(errors, "\n")),
      errors_(std::move(errors)) {}

LoadedConfiguration LoadConfiguration(std::string_view text,
                                      const SchedulerFeatures& features,
                                      const ConfigurationChange& change) {
  try {
    return Loader(ReadConfiguration(text), features).Load(change);
  } catch (const ConfigurationError&) {
    throw;
  } catch (const ParseError& error) {
    // The YAML library may quote a control character.
    throw ConfigurationError({Printable(error.what())});
  }
}

KubeSchedulerConfiguration DefaultConfiguration(
    const SchedulerFeatures& features, const ConfigurationChange& change) {
  ConfigurationSource source;
  source.configuration.profiles = {{.scheduler_name = "minisched"}};
  source.configuration.leader_election.leader_elect = false;
  return Loader(std::move(source), features).Load(change).configuration;
}

}  // namespace minisched
