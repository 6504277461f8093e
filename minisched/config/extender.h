// The extenders of a configuration: programs that a scheduler asks over HTTP.
// Follows kube-scheduler config/v1/types.go.

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace minisched {

// Bytes in base64, as in a file. DecodeBase64() of minisched/client decodes
// them.
struct Base64 {
  std::string text;

  bool operator==(const Base64&) const = default;
};

// How an extender's server is authenticated, and how the scheduler
// authenticates itself. Data takes precedence over a file.
struct ExtenderTlsConfig {
  bool insecure = false;
  std::string server_name;  // empty: the host of the URL
  std::string cert_file;
  std::string key_file;
  std::string ca_file;
  Base64 cert_data;
  Base64 key_data;
  Base64 ca_data;

  bool operator==(const ExtenderTlsConfig&) const = default;
};

// An extended resource that an extender manages.
struct ExtenderManagedResource {
  std::string name;
  bool ignored_by_scheduler = false;  // NodeResourcesFit doesn't filter by it

  bool operator==(const ExtenderManagedResource&) const = default;
};

struct ExtenderConfig {
  std::string url_prefix;
  // The paths of the calls, after url_prefix. Empty: the extender isn't asked.
  std::string filter_verb;
  std::string preempt_verb;
  std::string prioritize_verb;
  std::string bind_verb;    // of at most one extender
  std::int64_t weight = 0;  // of its scores; positive if it has any
  bool enable_https = false;
  std::optional<ExtenderTlsConfig> tls_config;
  std::chrono::nanoseconds http_timeout = std::chrono::seconds(5);  // of a call
  bool node_cache_capable = false;  // gets names of nodes instead of objects
  // Only pods that request one of them are sent. Empty: all pods are.
  std::vector<ExtenderManagedResource> managed_resources;
  bool ignorable = false;  // its errors don't fail the attempt

  bool operator==(const ExtenderConfig&) const = default;
};

}  // namespace minisched
