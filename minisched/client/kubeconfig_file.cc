#include "minisched/client/kubeconfig_file.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <utility>

#include "minisched/client/errors.h"
#include "minisched/client/kubeconfig_exec.h"

namespace minisched {
namespace {

// A value in a kubeconfig file, which may be absent, with its path for
// messages: "clusters[2].cluster.server". Null counts as absent.
class Field {
 public:
  Field(const YAML::Node& node, std::string file, std::string path)
      : node_(node), file_(std::move(file)), path_(std::move(path)) {}

  // Returns the value of `key` in this map. If a key is repeated, the last
  // value counts, as upstream.
  Field Get(const std::string& key) const {
    YAML::Node value;
    if (!node_.IsNull() && !node_.IsMap()) Fail("must be a map");
    for (const auto& entry : node_) {
      if (entry.first.IsScalar() && entry.first.Scalar() == key) {
        value.reset(entry.second);
      }
    }
    return Field(value, file_, path_.empty() ? key : path_ + "." + key);
  }

  std::vector<Field> Items() const {
    std::vector<Field> items;
    if (!node_.IsNull() && !node_.IsSequence()) Fail("must be a list");
    for (const auto& item : node_) {
      const std::string index = "[" + std::to_string(items.size()) + "]";
      items.emplace_back(item, file_, path_ + index);
    }
    return items;
  }

  std::string String() const {
    if (node_.IsNull()) return "";
    if (!node_.IsScalar()) Fail("must be a string");
    return node_.Scalar();
  }

  bool Bool() const {
    bool value = false;
    if (node_.IsNull()) return value;
    if (!node_.IsScalar() || !YAML::convert<bool>::decode(node_, value)) {
      Fail("must be true or false");
    }
    return value;
  }

  bool IsNull() const { return node_.IsNull(); }

  bool IsSet() const {
    return node_.IsScalar() ? !node_.Scalar().empty() : node_.size() > 0;
  }

  [[noreturn]] void Fail(const std::string& problem) const {
    throw ConfigError(file_ + ": " + (path_.empty() ? "the file" : path_) +
                      " " + problem);
  }

 private:
  YAML::Node node_;
  std::string file_;
  std::string path_;
};

Field ParseYaml(const std::string& file, const std::string& text) {
  try {
    return Field(YAML::Load(text), file, "");
  } catch (const YAML::Exception& e) {
    // After a colon, yaml-cpp may quote the text, which may be a secret.
    const std::string problem = e.msg.substr(0, e.msg.find(':'));
    throw ConfigError(file + ":" + std::to_string(e.mark.line + 1) + ":" +
                      std::to_string(e.mark.column + 1) +
                      ": not YAML: " + problem);
  }
}

// Returns the bodies of the items of `list` by name. Each item has a name and,
// under `kind`, a body.
std::map<std::string, Field> Named(const Field& root, const std::string& list,
                                   const std::string& kind) {
  std::map<std::string, Field> bodies;
  for (const Field& item : root.Get(list).Items()) {
    const std::string name = item.Get("name").String();
    if (!bodies.try_emplace(name, item.Get(kind)).second) {
      item.Fail("is a second " + kind + " " + Quote(name));
    }
  }
  return bodies;
}

KubeconfigContext ParseContext(const Field& body) {
  KubeconfigContext context;
  context.cluster = body.Get("cluster").String();
  context.user = body.Get("user").String();
  return context;
}

KubeconfigCluster ParseCluster(const Field& body) {
  KubeconfigCluster cluster;
  cluster.server = body.Get("server").String();
  cluster.tls_server_name = body.Get("tls-server-name").String();
  cluster.insecure_skip_tls_verify =
      body.Get("insecure-skip-tls-verify").Bool();
  cluster.certificate_authority = body.Get("certificate-authority").String();
  cluster.certificate_authority_data =
      body.Get("certificate-authority-data").String();
  cluster.proxy_url = body.Get("proxy-url").String();
  return cluster;
}

bool HasExecExtension(const Field& cluster) {
  return std::ranges::any_of(
      cluster.Get("extensions").Items(), [](const Field& extension) {
        return extension.Get("name").String() == kExecExtension;
      });
}

KubeconfigExec ParseExec(const Field& body) {
  KubeconfigExec exec;
  exec.api_version = body.Get("apiVersion").String();
  exec.command = body.Get("command").String();
  for (const Field& argument : body.Get("args").Items()) {
    exec.args.push_back(argument.String());
  }
  for (const Field& variable : body.Get("env").Items()) {
    exec.env.emplace_back(variable.Get("name").String(),
                          variable.Get("value").String());
  }
  exec.install_hint = body.Get("installHint").String();
  exec.provide_cluster_info = body.Get("provideClusterInfo").Bool();
  exec.interactive_mode = body.Get("interactiveMode").String();
  return exec;
}

KubeconfigUser ParseUser(const Field& body) {
  KubeconfigUser user;
  user.client_certificate = body.Get("client-certificate").String();
  user.client_certificate_data = body.Get("client-certificate-data").String();
  user.client_key = body.Get("client-key").String();
  user.client_key_data = body.Get("client-key-data").String();
  user.token = body.Get("token").String();
  user.token_file = body.Get("tokenFile").String();
  if (const Field exec = body.Get("exec"); !exec.IsNull()) {
    user.exec = ParseExec(exec);
  }
  for (const char* name : {"auth-provider", "username", "password", "as",
                           "as-uid", "as-groups", "as-user-extra"}) {
    if (user.unsupported.empty() && body.Get(name).IsSet()) {
      user.unsupported = name;
    }
  }
  return user;
}

// Adds an entry, labelled with its file, unless there is one of the same name.
template <typename Entry>
void Add(const std::string& file, const std::string& kind,
         const std::string& name, Entry entry,
         std::map<std::string, Entry>& entries) {
  entry.file = file;
  entry.label = file + ": " + kind + " " + Quote(name);
  entries.try_emplace(name, std::move(entry));
}

}  // namespace

std::string Quote(std::string name) {
  for (char& c : name) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '?';
  }
  return '"' + name + '"';
}

std::string Join(const std::vector<std::string>& parts) {
  std::string joined;
  for (const std::string& part : parts) {
    joined += joined.empty() ? part : ", " + part;
  }
  return joined;
}

void MergeKubeconfig(const std::string& file, const std::string& text,
                     Kubeconfig& config) {
  const Field root = ParseYaml(file, text);
  const std::string kind = root.Get("kind").String();
  const std::string version = root.Get("apiVersion").String();
  if ((!kind.empty() && kind != "Config") ||
      (!version.empty() && version != "v1")) {
    throw ConfigError(file + ": not a kubeconfig: kind " + Quote(kind) +
                      ", apiVersion " + Quote(version));
  }
  for (const auto& [name, body] : Named(root, "contexts", "context")) {
    Add(file, "context", name, ParseContext(body), config.contexts);
  }
  const auto clusters = Named(root, "clusters", "cluster");
  std::map<std::string, std::string> exec_configs;
  if (std::ranges::any_of(clusters, [](const auto& cluster) {
        return HasExecExtension(cluster.second);
      })) {
    exec_configs = ExecExtensions(file, text);
  }
  for (const auto& [name, body] : clusters) {
    KubeconfigCluster cluster = ParseCluster(body);
    cluster.exec_config = exec_configs[name];
    Add(file, "cluster", name, std::move(cluster), config.clusters);
  }
  for (const auto& [name, body] : Named(root, "users", "user")) {
    Add(file, "user", name, ParseUser(body), config.users);
  }
  if (config.current_context.empty()) {
    config.current_context = root.Get("current-context").String();
  }
  config.files.push_back(file);
}

}  // namespace minisched
