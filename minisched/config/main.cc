// What scripts/tests/config_test compares with kube-scheduler.
//
//   config-judge load FILE...   loads each configuration and writes
//                               FILE.loaded: {"errors", "warnings",
//                               "configuration", "plugins"}
//   config-judge json FILE...   writes each YAML file as FILE.json

#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "minisched/api/yaml.h"
#include "minisched/config/load.h"
#include "minisched/config/upstream_testing.h"
#include "minisched/config/write.h"

namespace minisched {
namespace {

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

nlohmann::json PluginsOf(const KubeSchedulerProfile& profile,
                         const PluginCatalog& catalog) {
  std::vector<PluginSetError> errors;
  const ExpandedPlugins expanded =
      ExpandPlugins(profile.plugins, catalog, errors);
  nlohmann::json json = nlohmann::json::object();
  for (std::size_t i = 0; i < kExtensionPoints; ++i) {
    const auto point = static_cast<ExtensionPoint>(i);
    for (const PluginEntry& plugin : expanded[point]) {
      const bool has_weight = point == ExtensionPoint::kScore;
      json[std::string(ToString(point))].push_back(
          {plugin.name, has_weight ? plugin.weight : 0});
    }
  }
  return json;
}

nlohmann::json Load(const std::string& text) {
  const SchedulerFeatures features = UpstreamFeatures();
  nlohmann::json json;
  try {
    const auto [configuration, warnings] = LoadConfiguration(text, features);
    json["warnings"] = warnings;
    json["configuration"] = WriteConfiguration(configuration);
    for (const KubeSchedulerProfile& profile : configuration.profiles) {
      json["plugins"].push_back(PluginsOf(profile, features.plugins));
    }
  } catch (const ConfigurationError& error) {
    json["errors"] = error.errors();
  }
  return json;
}

}  // namespace
}  // namespace minisched

int main(int argc, char** argv) {
  const std::string command = argc > 1 ? argv[1] : "";
  if (command != "load" && command != "json") {
    std::cerr << "usage: config-judge load|json FILE...\n";
    return 2;
  }
  for (int i = 2; i < argc; ++i) {
    const std::string path = argv[i];
    const std::string text = minisched::ReadFile(path);
    if (command == "load") {
      std::ofstream(path + ".loaded") << minisched::Load(text).dump();
    } else {
      std::ofstream(path + ".json") << minisched::YamlToJson(text).at(0);
    }
  }
}
