#include "lab/scenario/scheduler_config.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "lab/scenario/child_process.h"
#include "lab/scenario/errors.h"
#include "minisched/api/parse_error.h"
#include "minisched/api/yaml.h"
#include "minisched/config/configuration.h"

namespace minisched::scenario {
namespace {

using Json = nlohmann::json;

bool IsAbsent(const Json& object, const char* key) {
  return !object.contains(key) || object[key].is_null();
}

// Merges `members` into the object that is the member `key`.
void Merge(Json& config, const char* key, const Json& members) {
  if (IsAbsent(config, key)) config[key] = Json::object();
  if (config[key].is_object()) config[key].update(members);
}

void NameProfiles(Json& config, const std::string& name) {
  static const std::set<Json> kNoName = {nullptr, "", "minisched"};
  if (IsAbsent(config, "profiles") || config["profiles"].empty()) {
    config["profiles"] = Json::array({Json::object()});
  }
  for (Json& profile : config["profiles"]) {
    if (!profile.is_object()) continue;
    Json& own_name = profile["schedulerName"];
    if (kNoName.contains(own_name)) own_name = name;
  }
}

// Replaces the port of an extender on this machine, if `ports` has another.
void MoveExtender(Json& extender, const std::map<int, int>& ports) {
  static const std::regex kLocal(
      R"((https?://(?:localhost|127\.0\.0\.1):)(\d{1,5})(.*))");
  if (!extender.is_object()) return;
  const auto url = extender.find("urlPrefix");
  if (url == extender.end() || !url->is_string()) return;
  std::smatch parts;
  const std::string text = *url;
  if (!std::regex_match(text, parts, kLocal)) return;
  const auto port = ports.find(std::stoi(parts.str(2)));
  if (port == ports.end()) return;
  *url = parts.str(1) + std::to_string(port->second) + parts.str(3);
}

}  // namespace

Json ReadSchedulerConfig(std::string_view text, const std::string& source) {
  std::vector<YamlSource> documents;
  try {
    documents = ReadYaml(text);
  } catch (const ParseError& error) {
    throw CannotPlay(source + ": " + error.what());
  }
  Json config = Json::parse(documents.size() == 1 ? documents[0].json : "null");
  if (!config.is_object()) {
    throw CannotPlay(source +
                     ": expected a KubeSchedulerConfiguration, as one map");
  }
  for (const std::string& key : documents[0].repeated_keys) {
    const auto line = documents[0].lines.find(key);
    throw CannotPlay(fmt::format("{}: {}{}: the field is repeated", source,
                                 line == documents[0].lines.end()
                                     ? ""
                                     : fmt::format("line {}: ", line->second),
                                 key));
  }
  return config;
}

std::string CompleteSchedulerConfig(std::string_view text,
                                    const std::string& source,
                                    const RunSettings& settings) {
  Json config = ReadSchedulerConfig(text, source);
  if (IsAbsent(config, "apiVersion")) {
    config["apiVersion"] = kConfigurationApiVersion;
  }
  if (IsAbsent(config, "kind")) config["kind"] = kConfigurationKind;
  Merge(config, "leaderElection", {{"leaderElect", false}});
  Merge(config, "clientConnection",
        {{"contentType", "application/json"},
         {"acceptContentTypes", "application/json"}});
  if (!settings.kubeconfig.empty()) {
    Merge(config, "clientConnection", {{"kubeconfig", settings.kubeconfig}});
  }
  if (!settings.scheduler_name.empty()) {
    NameProfiles(config, settings.scheduler_name);
  }
  if (!IsAbsent(config, "extenders") && config["extenders"].is_array()) {
    for (Json& extender : config["extenders"]) {
      MoveExtender(extender, settings.extender_ports);
    }
  }
  return config.dump(2) + "\n";
}

std::string WithConfigFlag(const std::string& command,
                           const std::string& config, const std::string& file) {
  if (!(std::ofstream(file) << config << std::flush)) {
    throw CannotPlay("failed to write " + file);
  }
  return command + " --config " + ShellQuote(file);
}

}  // namespace minisched::scenario
