#include "minisched/client/kubeconfig.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "minisched/client/config_files.h"
#include "minisched/client/errors.h"
#include "minisched/client/kubeconfig_context.h"
#include "minisched/client/kubeconfig_file.h"
#include "minisched/client/pem.h"
#include "minisched/client/proxy.h"

namespace minisched {
namespace {

namespace fs = std::filesystem;

// Returns the files to look for; earlier files take precedence.
std::vector<std::string> Candidates(const ConfigFlags& flags,
                                    const ConfigEnvironment& environment) {
  if (!flags.kubeconfig.empty()) return {flags.kubeconfig};
  if (environment.kubeconfig.empty()) {
    if (environment.home.empty()) return {};
    return {(fs::path(environment.home) / ".kube" / "config").string()};
  }
  std::vector<std::string> files;
  std::size_t begin = 0;
  while (begin <= environment.kubeconfig.size()) {
    const std::size_t end = std::min(environment.kubeconfig.find(':', begin),
                                     environment.kubeconfig.size());
    const std::string file = environment.kubeconfig.substr(begin, end - begin);
    if (!file.empty() && std::ranges::find(files, file) == files.end()) {
      files.push_back(file);
    }
    begin = end + 1;
  }
  return files;
}

// Reads and merges the files. Adds files that don't exist to `missing`, unless
// the file is that of --kubeconfig.
Kubeconfig ReadKubeconfigs(const ConfigFlags& flags,
                           const ConfigEnvironment& environment,
                           const std::stop_token& stop,
                           std::vector<std::string>& missing) {
  Kubeconfig result;
  for (const std::string& file : Candidates(flags, environment)) {
    std::error_code error;
    const std::string text = ReadFileOrPipe(file, stop, error);
    if (flags.kubeconfig.empty() &&
        error == std::errc::no_such_file_or_directory) {
      missing.push_back(file);
      continue;
    }
    if (error) throw ConfigError("kubeconfig " + file + ": " + error.message());
    MergeKubeconfig(file, text, result);
  }
  return result;
}

// Returns why this process isn't in a pod; empty if it is.
std::string NotInPod(const ConfigEnvironment& environment) {
  if (environment.service_host.empty()) {
    return "$KUBERNETES_SERVICE_HOST is not set";
  }
  if (environment.service_port.empty()) {
    return "$KUBERNETES_SERVICE_PORT is not set";
  }
  const std::string token = environment.service_account_dir + "/token";
  std::error_code ignored;
  if (!fs::exists(token, ignored) || fs::is_directory(token, ignored)) {
    return token + " does not exist";
  }
  return "";
}

RestConfig InPod(const ConfigEnvironment& environment) {
  const std::string account = "in-cluster account: ";
  const std::string& dir = environment.service_account_dir;
  const std::string& host = environment.service_host;
  const bool ipv6 = host.find(':') != std::string::npos;

  RestConfig config;
  config.source = "the in-cluster account";
  config.server = "https://" + (ipv6 ? "[" + host + "]" : host) + ":" +
                  environment.service_port;
  config.bearer_token_file = dir + "/token";
  const std::string where = account + config.bearer_token_file;
  config.bearer_token =
      ParseToken(ReadFile(config.bearer_token_file, where), where);

  const std::string ca = dir + "/ca.crt";
  config.ca_data = ReadFile(ca, account + ca);
  ReadCertificates({config.ca_data, account + ca});
  return config;
}

// Describes each place in which no context was found.
std::vector<std::string> Searched(const ConfigFlags& flags,
                                  const ConfigEnvironment& environment,
                                  const Kubeconfig& kubeconfig,
                                  const std::vector<std::string>& missing) {
  std::vector<std::string> found;
  if (flags.kubeconfig.empty() && environment.kubeconfig.empty()) {
    found.push_back("$KUBECONFIG is not set");
    if (environment.home.empty()) found.push_back("$HOME is not set");
  } else if (kubeconfig.files.empty() && missing.empty()) {
    found.push_back("$KUBECONFIG names no file");
  }
  for (const std::string& file : missing) {
    found.push_back(file + " does not exist");
  }
  for (const std::string& file : kubeconfig.files) {
    found.push_back(file + " has no contexts");
  }
  return found;
}

std::string ContextNames(const Kubeconfig& kubeconfig) {
  std::vector<std::string> names;
  for (const auto& [name, context] : kubeconfig.contexts) {
    names.push_back(Quote(name));
  }
  return Join(names);
}

// Returns why no context is selected.
std::string NoContext(const ConfigFlags& flags,
                      const ConfigEnvironment& environment,
                      const Kubeconfig& kubeconfig,
                      const std::vector<std::string>& missing) {
  std::vector<std::string> searched =
      Searched(flags, environment, kubeconfig, missing);
  const std::string& current = kubeconfig.current_context;
  const std::string there =
      kubeconfig.contexts.empty()
          ? Join(searched)
          : Join(kubeconfig.files) + " has " + ContextNames(kubeconfig);
  if (!flags.context.empty()) {
    return "no context " + Quote(flags.context) + ": " + there;
  }
  if (!current.empty()) {
    return "no context " + Quote(current) + " (the current-context): " + there;
  }
  if (!kubeconfig.contexts.empty()) {
    return "no current-context, and no --context: " + there;
  }
  if (flags.kubeconfig.empty()) {
    searched.push_back("not in a pod (" + NotInPod(environment) + ")");
  }
  return "no cluster to connect to: " + Join(searched) +
         "; give --kubeconfig, or let scripts/run start one";
}

// Returns `config`, or throws if client-go would reach its server through a
// proxy.
RestConfig WithoutProxy(RestConfig config,
                        const ConfigEnvironment& environment) {
  const std::string& server = config.server;
  const bool is_https = server.starts_with("https://");
  const std::string& proxy =
      is_https ? environment.https_proxy : environment.http_proxy;
  if (proxy.empty() || !NeedsProxy(server, environment.no_proxy)) return config;
  const std::size_t begin = server.find("://") + 3;
  const std::size_t end = server[begin] == '['
                              ? server.find(']') + 1
                              : server.find_first_of(":/", begin);
  // Without the proxy's URL, which may have a password.
  throw ConfigError(
      config.source + ": " +
      (is_https ? "$HTTPS_PROXY or $https_proxy"
                : "$HTTP_PROXY or $http_proxy") +
      " is set for " + server +
      ", but proxies are not supported; to connect without one, add " +
      server.substr(begin, end - begin) + " to $NO_PROXY");
}

}  // namespace

ConfigEnvironment ProcessEnvironment() {
  const auto get = [](const char* name) -> std::string {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  ConfigEnvironment environment;
  environment.kubeconfig = get("KUBECONFIG");
  environment.home = get("HOME");
  environment.service_host = get("KUBERNETES_SERVICE_HOST");
  environment.service_port = get("KUBERNETES_SERVICE_PORT");
  const auto either = [&](const char* upper, const char* lower) {
    const std::string value = get(upper);
    return value.empty() ? get(lower) : value;
  };
  environment.http_proxy = either("HTTP_PROXY", "http_proxy");
  environment.https_proxy = either("HTTPS_PROXY", "https_proxy");
  environment.no_proxy = either("NO_PROXY", "no_proxy");
  return environment;
}

RestConfig LoadRestConfig(const ConfigFlags& flags,
                          const ConfigEnvironment& environment,
                          const std::stop_token& stop) {
  std::vector<std::string> missing;
  const Kubeconfig kubeconfig =
      ReadKubeconfigs(flags, environment, stop, missing);
  const std::string& name =
      flags.context.empty() ? kubeconfig.current_context : flags.context;
  if (!name.empty() && kubeconfig.contexts.contains(name)) {
    return WithoutProxy(FromContext(name, kubeconfig), environment);
  }
  // A context or file that the user named must exist: the pod's account is only
  // for the case that neither is given.
  if (name.empty() && flags.kubeconfig.empty() &&
      NotInPod(environment).empty()) {
    return WithoutProxy(InPod(environment), environment);
  }
  throw ConfigError(NoContext(flags, environment, kubeconfig, missing));
}

}  // namespace minisched
