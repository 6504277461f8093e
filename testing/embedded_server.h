#pragma once

#include <string>
#include <thread>

#include "lab/apiserver/server.h"
#include "minisched/client/rest_config.h"

namespace minisched {

// The embedded API server on its own thread, without the simulated kubelet and
// workload controllers. The destructor stops the server.
class EmbeddedServer {
 public:
  // Starts the server with the objects of a manifest (YAML as for kubectl).
  explicit EmbeddedServer(const std::string& manifest = "");
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
