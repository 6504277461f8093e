#pragma once

#include <cstddef>
#include <deque>
#include <string>

#include "minisched/base/mutex.h"
#include "minisched/client/rest_config.h"
#include "testing/http_server.h"

namespace minisched {

// A server that queues requests for the test. The test takes the requests one
// by one, and answers each request or leaves the client waiting. Thread-safe.
class ScriptedApi {
 public:
  struct Exchange {
    ServerRequest request;
    ServerReply reply;
  };

  // Returns a configuration for clients, without a rate limit.
  RestConfig config() const;

  // Returns the number of requests received so far.
  std::size_t Requests() const { return server_.requests().size(); }

  // Removes and returns the next request, blocking until there is one. Throws
  // std::runtime_error after 20 s.
  Exchange Take() EXCLUDES(mu_);

 private:
  void Handle(const ServerRequest& request, ServerReply reply) EXCLUDES(mu_);

  Mutex mu_;
  CondVar changed_;
  std::deque<Exchange> exchanges_ GUARDED_BY(mu_);
  // The last member, because its thread calls Handle().
  HttpServer server_{[this](const ServerRequest& request, ServerReply reply) {
    Handle(request, reply);
  }};
};

}  // namespace minisched
