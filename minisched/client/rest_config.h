#pragma once

#include <chrono>
#include <string>

namespace minisched {

// The address of an API server and the client's credentials, as loaded from
// kubeconfig files. A value. Certificates and keys are PEM text, so that after
// loading only a token file is still read. Follows client-go's rest.Config.
struct RestConfig {
  // "https://host:port", optionally with a path. "http://" for a server on
  // loopback without TLS.
  std::string server;

  // The trusted certificate authorities (PEM). Empty: the system's.
  std::string ca_data;
  // The name in the server's certificate, if it isn't the URL's host.
  std::string tls_server_name;
  bool insecure_skip_tls_verify = false;

  // The client's credentials: a certificate with its key (PEM), a token, or
  // nothing.
  std::string client_certificate_data;
  std::string client_key_data;
  std::string bearer_token;
  // If set, the token is read from this file for each request, because such
  // tokens are rotated. While the file can't be read or holds no token, the
  // last token read from it is used, and bearer_token before that.
  std::string bearer_token_file;

  // Where the configuration came from, for messages: `context "kind" of
  // /a/kubeconfig`.
  std::string source;

  // Client-side rate limit: requests per second, and how many may be sent at
  // once after a pause. kube-scheduler's defaults. qps <= 0 means no limit.
  double qps = 50;
  int burst = 100;

  // The User-Agent header.
  std::string user_agent = "minisched";

  // Limit for resolving the name, connecting and the TLS handshake.
  std::chrono::milliseconds connect_timeout{10'000};
  // Limit until the answer is complete; for a watch, until its headers arrive.
  std::chrono::milliseconds request_timeout{30'000};
  // How long a watch that asks for bookmarks may be silent. The server sends a
  // bookmark about once a minute.
  std::chrono::milliseconds watch_idle_timeout{150'000};
};

}  // namespace minisched
