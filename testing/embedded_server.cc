#include "testing/embedded_server.h"

namespace minisched {

EmbeddedServer::EmbeddedServer(const std::string& manifest,
                               const apiserver::ServerOptions& options)
    : server_(options) {
  if (!manifest.empty()) server_.Load(manifest, "the test's manifest");
  thread_ = std::jthread([this] { server_.Run(); });
}

EmbeddedServer::~EmbeddedServer() { server_.Stop(); }

RestConfig EmbeddedServer::config() const {
  RestConfig config;
  config.server = server_.url();
  config.qps = 0;
  return config;
}

}  // namespace minisched
