#pragma once

#include <deque>
#include <string>

#include "lab/testing/http_server.h"
#include "minisched/base/mutex.h"
#include "minisched/client/rest_config.h"

namespace minisched {

// A server that does what the test says, request by request: take one, and
// answer it, or leave it waiting. Thread-safe.
class ScriptedApi {
 public:
  struct Exchange {
    ServerRequest request;
    ServerReply reply;
  };

  // How to reach it; without a rate limit.
  RestConfig config() const;

  // The next request. Throws std::runtime_error if none comes within 20 s.
  Exchange Take() EXCLUDES(mu_);

 private:
  void Handle(const ServerRequest& request, ServerReply reply) EXCLUDES(mu_);

  Mutex mu_;
  CondVar changed_;
  std::deque<Exchange> exchanges_ GUARDED_BY(mu_);
  // Last: it calls Handle().
  HttpServer server_{[this](const ServerRequest& request, ServerReply reply) {
    Handle(request, reply);
  }};
};

}  // namespace minisched
