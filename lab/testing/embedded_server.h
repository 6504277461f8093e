#pragma once

#include <string>
#include <thread>

#include "lab/apiserver/server.h"
#include "minisched/client/rest_config.h"

namespace minisched {

// The embedded API server on a thread of its own, for as long as this lives.
// Nothing but its clients changes its pods and nodes.
class EmbeddedServer {
 public:
  // Starts with the objects of a manifest, as kubectl takes it.
  explicit EmbeddedServer(const std::string& manifest = "");
  ~EmbeddedServer();

  EmbeddedServer(const EmbeddedServer&) = delete;
  EmbeddedServer& operator=(const EmbeddedServer&) = delete;

  // How to reach it; without a rate limit.
  RestConfig config() const;

  // To make it misbehave: SetFaults(), Compact(), GoAway().
  apiserver::Server& server() { return server_; }

 private:
  apiserver::Server server_;
  std::jthread thread_;
};

}  // namespace minisched
