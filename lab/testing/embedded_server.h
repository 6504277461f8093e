#pragma once

#include <string>
#include <thread>

#include "lab/apiserver/server.h"
#include "minisched/client/rest_config.h"

namespace minisched {

// The embedded API server on its own thread. The destructor stops the server.
// It simulates no kubelet and no workloads: only clients change objects.
class EmbeddedServer {
 public:
  // Starts the server with the objects of a manifest (YAML as for kubectl).
  explicit EmbeddedServer(const std::string& manifest = "");
  ~EmbeddedServer();

  EmbeddedServer(const EmbeddedServer&) = delete;
  EmbeddedServer& operator=(const EmbeddedServer&) = delete;

  // Returns a configuration for clients, without a rate limit.
  RestConfig config() const;

  // For faults: SetFaults(), Compact(), GoAway().
  apiserver::Server& server() { return server_; }

 private:
  apiserver::Server server_;
  std::jthread thread_;
};

}  // namespace minisched
