#include "minisched/client/kubeconfig_exec.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "minisched/api/parse_error.h"
#include "minisched/api/yaml.h"
#include "minisched/client/config_files.h"
#include "minisched/client/errors.h"

namespace minisched {
namespace {

using Json = nlohmann::json;

constexpr char kV1[] = "client.authentication.k8s.io/v1";
constexpr char kV1Beta1[] = "client.authentication.k8s.io/v1beta1";

// Returns null if there is no such member.
Json Member(const Json& object, const std::string& key) {
  const bool found = object.is_object() && object.contains(key);
  return found ? object[key] : Json();
}

std::string ScalarText(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

[[noreturn]] void FailExec(const KubeconfigUser& user,
                           const std::string& problem) {
  throw ConfigError(user.label + ": exec" + problem);
}

void CheckApiVersion(const KubeconfigUser& user) {
  const std::string& version = user.exec->api_version;
  if (version == kV1 || version == kV1Beta1) return;
  if (version.empty()) FailExec(user, " has no apiVersion");
  FailExec(user, ": apiVersion " + Quote(version) + " is not supported; use " +
                     kV1 + " or " + kV1Beta1);
}

void CheckInteractiveMode(const KubeconfigUser& user) {
  const std::string& mode = user.exec->interactive_mode;
  if (mode == "Never" || mode == "IfAvailable") return;
  if (mode.empty()) {
    if (user.exec->api_version == kV1Beta1) return;  // means IfAvailable
    FailExec(user, " has no interactiveMode; use IfAvailable or Never");
  }
  if (mode == "Always") {
    FailExec(user,
             ": interactiveMode Always needs a terminal, which a scheduler "
             "does not have; use IfAvailable or Never");
  }
  FailExec(user, ": no interactiveMode " + Quote(mode) +
                     "; use IfAvailable or Never");
}

}  // namespace

std::map<std::string, std::string> ExecExtensions(const std::string& file,
                                                  const std::string& text) {
  std::map<std::string, std::string> extensions;
  std::vector<std::string> documents;
  try {
    documents = YamlToJson(text);
  } catch (const ParseError&) {
    // The error may quote the text, which may be a secret.
    throw ConfigError(file + ": cannot be converted to JSON, which the " +
                      "extension " + kExecExtension + " needs");
  }
  if (documents.empty()) return extensions;
  const Json config = Json::parse(documents.front());
  for (const Json& item : Member(config, "clusters")) {
    for (const Json& extension :
         Member(Member(item, "cluster"), "extensions")) {
      if (Member(extension, "name") != kExecExtension) continue;
      extensions[ScalarText(Member(item, "name"))] =
          Member(extension, "extension").dump();
    }
  }
  return extensions;
}

ExecConfig CheckExec(const KubeconfigUser& user,
                     const KubeconfigCluster& cluster) {
  const KubeconfigExec& exec = *user.exec;
  if (exec.command.empty()) FailExec(user, " has no command");
  CheckApiVersion(user);
  CheckInteractiveMode(user);

  ExecConfig config;
  config.source = user.label;
  config.api_version = exec.api_version;
  const bool is_path = exec.command.find('/') != std::string::npos;
  config.command.push_back(is_path ? ResolvePath(user.file, exec.command)
                                   : exec.command);
  config.command.insert(config.command.end(), exec.args.begin(),
                        exec.args.end());
  for (const auto& [name, value] : exec.env) {
    if (name.empty()) FailExec(user, ": a variable of env has no name");
    config.environment[name] = value;
  }
  config.install_hint = exec.install_hint;
  config.provide_cluster_info = exec.provide_cluster_info;
  config.cluster_config = cluster.exec_config;
  return config;
}

}  // namespace minisched
