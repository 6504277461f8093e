#include "minisched/client/kubeconfig_context.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "minisched/client/config_files.h"
#include "minisched/client/errors.h"
#include "minisched/client/kubeconfig_exec.h"
#include "minisched/client/pem.h"

namespace minisched {
namespace {

bool IsPort(const std::string& text) {
  return !text.empty() && text.size() <= 5 &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

bool IsHttpUrl(const std::string& url) {
  if (!url.starts_with("https://") && !url.starts_with("http://")) return false;
  if (std::ranges::any_of(
          url, [](unsigned char c) { return c <= ' ' || c == '\x7f'; })) {
    return false;
  }
  const std::size_t begin = url.find("://") + 3;
  const std::string authority = url.substr(begin, url.find('/', begin) - begin);
  // The host is a name, or an IPv6 address in brackets.
  const std::size_t end = authority.starts_with('[') ? authority.find(']') + 1
                                                     : authority.find(':');
  const std::string host = authority.substr(0, end);
  const std::string rest = authority.substr(host.size());
  return !host.empty() &&
         (rest.empty() || (rest.starts_with(':') && IsPort(rest.substr(1))));
}

// Returns the URL of the cluster's server without trailing slashes, query and
// fragment, which upstream drops too.
std::string ServerUrl(const KubeconfigCluster& cluster) {
  if (cluster.server.empty()) {
    throw ConfigError(cluster.label + " has no server");
  }
  std::string url =
      cluster.server.substr(0, cluster.server.find_first_of("?#"));
  while (url.ends_with('/')) url.pop_back();
  // user:password@host is basic authentication. The message doesn't quote the
  // URL, because it contains a password.
  if (url.find('@') != std::string::npos) {
    throw ConfigError(cluster.label +
                      ": a server with a user name is not supported");
  }
  if (!IsHttpUrl(url)) {
    throw ConfigError(cluster.label + ": server " + Quote(url) +
                      " is not an http:// or https:// URL");
  }
  return url;
}

// Returns the contents of an entry's `field` (a file name) or `field`-data
// (base64). `where` is empty if the entry has neither.
Pem LoadPem(const KubeconfigEntry& entry, const std::string& field,
            const std::string& file, const std::string& data) {
  if (!data.empty() && !file.empty()) {
    throw ConfigError(entry.label + " has both " + field + " and " + field +
                      "-data");
  }
  if (!data.empty()) {
    const std::string where = entry.label + ": " + field + "-data";
    std::optional<std::string> text = DecodeBase64(data);
    if (!text) throw ConfigError(where + " is not base64");
    return {std::move(*text), where};
  }
  if (!file.empty()) {
    const std::string path = ResolvePath(entry.file, file);
    const std::string where = entry.label + ": " + field + " " + path;
    return {ReadFile(path, where), where};
  }
  return {};
}

void SetTrust(const KubeconfigCluster& cluster, RestConfig& config) {
  config.tls_server_name = cluster.tls_server_name;
  config.insecure_skip_tls_verify = cluster.insecure_skip_tls_verify;
  Pem ca =
      LoadPem(cluster, "certificate-authority", cluster.certificate_authority,
              cluster.certificate_authority_data);
  if (ca.where.empty()) return;
  if (cluster.insecure_skip_tls_verify) {
    throw ConfigError(cluster.label +
                      " has both insecure-skip-tls-verify and a "
                      "certificate-authority");
  }
  ReadCertificates(ca);
  config.ca_data = std::move(ca.text);
}

void SetClientCertificate(const KubeconfigUser& user, RestConfig& config) {
  Pem certificate = LoadPem(user, "client-certificate", user.client_certificate,
                            user.client_certificate_data);
  Pem key = LoadPem(user, "client-key", user.client_key, user.client_key_data);
  if (certificate.where.empty() && key.where.empty()) return;
  if (key.where.empty() || certificate.where.empty()) {
    throw ConfigError(user.label +
                      (key.where.empty()
                           ? " has a client-certificate but no client-key"
                           : " has a client-key but no client-certificate"));
  }
  CheckClientCertificate(certificate, key, std::chrono::system_clock::now());
  config.client_certificate_data = std::move(certificate.text);
  config.client_key_data = std::move(key.text);
}

void SetToken(const KubeconfigUser& user, RestConfig& config) {
  if (!user.token.empty()) {
    config.bearer_token = ParseToken(user.token, user.label + ": token");
  }
  if (user.token_file.empty()) return;
  config.bearer_token_file = ResolvePath(user.file, user.token_file);
  // With a token beside it, the file need not exist yet.
  if (!user.token.empty()) return;
  const std::string where =
      user.label + ": tokenFile " + config.bearer_token_file;
  config.bearer_token =
      ParseToken(ReadFile(config.bearer_token_file, where), where);
}

void RefuseUnsupported(const KubeconfigCluster& cluster,
                       const KubeconfigUser& user) {
  if (!cluster.proxy_url.empty()) {
    throw ConfigError(cluster.label + ": proxy-url is not supported");
  }
  if (!user.unsupported.empty()) {
    throw ConfigError(user.label + ": " + user.unsupported +
                      " is not supported; use a client certificate, a token "
                      "or exec");
  }
}

}  // namespace

RestConfig FromContext(const std::string& name, const Kubeconfig& kubeconfig) {
  const KubeconfigContext& context = kubeconfig.contexts.at(name);
  if (context.cluster.empty()) {
    throw ConfigError(context.label + " names no cluster");
  }
  if (!kubeconfig.clusters.contains(context.cluster)) {
    throw ConfigError(context.label + ": no cluster " + Quote(context.cluster) +
                      " in " + Join(kubeconfig.files));
  }
  // A context without a user is anonymous.
  if (!context.user.empty() && !kubeconfig.users.contains(context.user)) {
    throw ConfigError(context.label + ": no user " + Quote(context.user) +
                      " in " + Join(kubeconfig.files));
  }
  const KubeconfigCluster& cluster = kubeconfig.clusters.at(context.cluster);
  const KubeconfigUser user = context.user.empty()
                                  ? KubeconfigUser()
                                  : kubeconfig.users.at(context.user);
  RefuseUnsupported(cluster, user);

  RestConfig config;
  config.source = "context " + Quote(name) + " of " + context.file;
  config.server = ServerUrl(cluster);
  if (config.server.starts_with("https://")) {
    SetTrust(cluster, config);
    SetClientCertificate(user, config);
    SetToken(user, config);
    if (user.exec) config.exec = CheckExec(user, cluster);
  }
  return config;
}

}  // namespace minisched
