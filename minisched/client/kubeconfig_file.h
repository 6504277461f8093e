#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace minisched {

// The contents of kubeconfig files as they are written: file names are not
// resolved, base64 is not decoded, and only the types are checked. Holds the
// fields that LoadRestConfig() in kubeconfig.h needs.
//
// Follows client-go's clientcmd/api/v1 (the types) and the merge in
// clientcmd/loader.go.

struct KubeconfigEntry {
  std::string file;   // the file that defines the entry
  std::string label;  // its name in messages: `/a/kubeconfig: user "kind"`
};

struct KubeconfigContext : KubeconfigEntry {
  std::string cluster;
  std::string user;
};

struct KubeconfigCluster : KubeconfigEntry {
  std::string server;
  std::string tls_server_name;
  bool insecure_skip_tls_verify = false;
  std::string certificate_authority;
  std::string certificate_authority_data;
  std::string proxy_url;
  // The extension "client.authentication.k8s.io/exec" as JSON; empty if there
  // is none.
  std::string exec_config;
};

struct KubeconfigExec {
  std::string api_version;
  std::string command;
  std::vector<std::string> args;
  std::vector<std::pair<std::string, std::string>> env;  // name and value
  std::string install_hint;
  bool provide_cluster_info = false;
  std::string interactive_mode;
};

struct KubeconfigUser : KubeconfigEntry {
  std::string client_certificate;
  std::string client_certificate_data;
  std::string client_key;
  std::string client_key_data;
  std::string token;
  std::string token_file;
  std::optional<KubeconfigExec> exec;
  // The name of an unsupported field that is set: "auth-provider", ...
  std::string unsupported;
};

// All files merged. The keys of the maps are names.
struct Kubeconfig {
  std::vector<std::string> files;
  std::string current_context;
  std::map<std::string, KubeconfigContext> contexts;
  std::map<std::string, KubeconfigCluster> clusters;
  std::map<std::string, KubeconfigUser> users;
};

// Returns a name for a message: in quotes, with '?' for control characters, so
// that it stays on one line.
std::string Quote(std::string name);

// Returns "a, b, c".
std::string Join(const std::vector<std::string>& parts);

// Adds the entries of a file that `config` doesn't have yet. `file` is the
// file's name, for messages; `text` is its contents, YAML or JSON. Throws
// ConfigError: one line without secrets. `config` may then hold a part of the
// file.
void MergeKubeconfig(const std::string& file, const std::string& text,
                     Kubeconfig& config);

}  // namespace minisched
