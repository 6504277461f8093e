#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace minisched {

// A program that prints credentials: a kubeconfig's users[].user.exec. A value.
// Follows client-go's api.ExecConfig.
struct ExecConfig {
  // The version of what the program gets and prints:
  // "client.authentication.k8s.io/v1" or
  // "client.authentication.k8s.io/v1beta1".
  std::string api_version;
  // The program and its arguments. A program without a slash is looked up in
  // $PATH.
  std::vector<std::string> command;
  // Environment variables for the program, besides those of this process.
  std::map<std::string, std::string> environment;
  // How to install the program: part of the error if it is missing.
  std::string install_hint;
  // If true, $KUBERNETES_EXEC_INFO describes the cluster to the program.
  bool provide_cluster_info = false;
  // JSON for the field `config` of this description; may be empty.
  std::string cluster_config;

  // A program that runs longer than this is killed.
  std::chrono::milliseconds timeout{60'000};
  // Where the program is configured, for messages: `/a/kubeconfig: user "x"`.
  std::string source;
};

// The address of an API server and the client's credentials, as loaded from
// kubeconfig files. A value. Certificates and keys are PEM text: after loading,
// only a token file is still read, and only the program of `exec` is run.
// Follows client-go's rest.Config.
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
  // If there are no other credentials, this program prints them: a token, a
  // certificate with its key, or both. The client runs the program when it
  // needs credentials: for the first request, when they have expired, and when
  // the server refuses them (401).
  std::optional<ExecConfig> exec;

  // Where the configuration came from, for messages: `context "kind" of
  // /a/kubeconfig`.
  std::string source;

  // Client-side rate limit: requests per second, and how many may be sent at
  // once after a pause. kube-scheduler's defaults. qps <= 0 means no limit.
  double qps = 50;
  int burst = 100;

  // How many requests may be in flight, not counting watches. Further requests
  // wait. Each request in flight has a connection, because the client uses
  // HTTP/1.1. The default is kube-apiserver's limit for the requests on one
  // HTTP/2 connection. <= 0 means no limit.
  int max_in_flight = 100;

  // The largest body of a response, and the largest part of a watch that was
  // received but not yet read. 512 MiB are enough for 15,000 nodes of 20 KiB in
  // one response. They are also enough for 150,000 pods of 3 KiB in one
  // response; the pages of a list are smaller.
  std::size_t max_response_bytes = std::size_t{512} << 20;
  // The longest line of a watch, which is one event. By default, etcd stores
  // objects of at most 1.5 MiB.
  std::size_t max_line_bytes = std::size_t{16} << 20;

  // The User-Agent header.
  std::string user_agent = "minisched";

  // Deadlines, which begin when qps and max_in_flight allow the request.
  // For resolving the name, connecting and the TLS handshake.
  std::chrono::milliseconds connect_timeout{10'000};
  // For the complete response; for a watch, for the headers of the response.
  std::chrono::milliseconds request_timeout{30'000};
  // How long a watch that asks for bookmarks may be silent. The server sends a
  // bookmark about once a minute.
  std::chrono::milliseconds watch_idle_timeout{150'000};
};

}  // namespace minisched
