#pragma once

#include <chrono>
#include <string>

namespace minisched {

// How to reach an API server and as whom: what kubeconfig files boil down to.
// Follows client-go's rest.Config. A value; certificates and keys are kept as
// PEM text, so that no file is needed once it is loaded.
struct RestConfig {
  // "https://host:port", perhaps with a path; "http://" for a server on
  // loopback that has no TLS.
  std::string server;
  // The namespace of the context, "default" where it names none.
  std::string default_namespace = "default";

  // Whom to trust. PEM; empty means the system's certificate authorities.
  std::string ca_data;
  // The name the server's certificate must carry, in place of the URL's host.
  std::string tls_server_name;
  bool insecure_skip_tls_verify = false;

  // Who we are: a client certificate with its key (PEM), a token, or nothing.
  std::string client_certificate_data;
  std::string client_key_data;
  std::string bearer_token;
  // Read anew whenever it changes; takes precedence over bearer_token.
  std::string bearer_token_file;

  // Where all this came from, for messages: `context "kind" of /a/kubeconfig`.
  std::string source;

  // Client-side rate limit: requests per second, and how many may go at once
  // after a quiet time. kube-scheduler's defaults. qps <= 0 means no limit.
  double qps = 50;
  int burst = 100;

  // The User-Agent header.
  std::string user_agent = "minisched";

  // How long until the request is on its way: resolving, connecting, TLS.
  std::chrono::milliseconds connect_timeout{10'000};
  // How long until the whole answer is there; for a watch, its headers.
  std::chrono::milliseconds request_timeout{30'000};
  // How long a watch that asks for bookmarks may be silent. The server sends a
  // bookmark about once a minute.
  std::chrono::milliseconds watch_idle_timeout{150'000};
};

}  // namespace minisched
