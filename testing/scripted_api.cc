#include "testing/scripted_api.h"

#include <chrono>
#include <stdexcept>
#include <utility>

namespace minisched {

RestConfig ScriptedApi::config() const {
  RestConfig config;
  config.server = server_.url();
  config.qps = 0;
  return config;
}

ScriptedApi::Exchange ScriptedApi::Take() {
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::seconds(20);
  MutexLock lock(mu_);
  while (exchanges_.empty()) {
    if (std::chrono::steady_clock::now() >= deadline) {
      throw std::runtime_error("no request within 20 s");
    }
    changed_.WaitUntil(mu_, {}, deadline);
  }
  Exchange next = std::move(exchanges_.front());
  exchanges_.pop_front();
  return next;
}

void ScriptedApi::Handle(const ServerRequest& request, ServerReply reply) {
  MutexLock lock(mu_);
  exchanges_.push_back({request, std::move(reply)});
  changed_.NotifyAll();
}

}  // namespace minisched
