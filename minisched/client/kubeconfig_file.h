#pragma once

#include <map>
#include <string>
#include <vector>

namespace minisched {

// What kubeconfig files say, as it is written there: file names not resolved,
// base64 not decoded, nothing checked but the types. Only what LoadRestConfig
// (kubeconfig.h) needs; that is who it is for.
//
// Follows client-go's clientcmd/api/v1 (the types) and the merge in
// clientcmd/loader.go.

struct KubeconfigEntry {
  std::string file;   // that it is from
  std::string label;  // what messages call it: `/a/kubeconfig: user "kind"`
};

struct KubeconfigContext : KubeconfigEntry {
  std::string cluster;
  std::string user;
  std::string default_namespace;
};

struct KubeconfigCluster : KubeconfigEntry {
  std::string server;
  std::string tls_server_name;
  bool insecure_skip_tls_verify = false;
  std::string certificate_authority;
  std::string certificate_authority_data;
  std::string proxy_url;
};

struct KubeconfigUser : KubeconfigEntry {
  std::string client_certificate;
  std::string client_certificate_data;
  std::string client_key;
  std::string client_key_data;
  std::string token;
  std::string token_file;
  // The name of a field it has that asks for what we don't do: "exec", ...
  std::string unsupported;
};

// The merge of all files. Maps go by name.
struct Kubeconfig {
  std::vector<std::string> files;
  std::string current_context;
  std::map<std::string, KubeconfigContext> contexts;
  std::map<std::string, KubeconfigCluster> clusters;
  std::map<std::string, KubeconfigUser> users;
};

// A name for a message: in quotes, and on one line whatever is in it.
std::string Quote(std::string name);

// "a, b, c".
std::string Join(const std::vector<std::string>& parts);

// Adds what a file has and earlier ones don't. `file` is its name, for
// messages; `text` is what is in it, YAML or JSON.
// Throws ConfigError, one line that repeats nothing of what is secret. Then
// `config` may hold a part of the file.
void MergeKubeconfig(const std::string& file, const std::string& text,
                     Kubeconfig& config);

}  // namespace minisched
