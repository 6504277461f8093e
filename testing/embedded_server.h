#pragma once

#include <string>
#include <thread>

#include "lab/apiserver/server.h"
#include "minisched/client/rest_config.h"

namespace minisched {

// The embedded API server on its own thread. The destructor stops the server.
class EmbeddedServer {
 public:
  // Starts the server with the objects of a manifest (YAML as for kubectl). By
  // default, it simulates neither a kubelet nor workload controllers.
  explicit EmbeddedServer(const std::string& manifest = "",
                          const apiserver::ServerOptions& options = {});
  ~EmbeddedServer();

  EmbeddedServer(const EmbeddedServer&) = delete;
  EmbeddedServer& operator=(const EmbeddedServer&) = delete;

  // Returns a configuration for clients, without a rate limit.
  RestConfig config() const;

  // Returns the server, for SetFaults(), Compact() and GoAway().
  apiserver::Server& server() { return server_; }

 private:
  apiserver::Server server_;
  std::jthread thread_;
};

}  // namespace minisched
