#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "lab/apiserver/http/http.h"
#include "lab/apiserver/object.h"
#include "lab/apiserver/rest.h"

namespace minisched::apiserver {

// What /metrics tells, under the names that kube-apiserver has for it:
// apiserver_request_total and apiserver_request_duration_seconds; and, of this
// server's own, minisched_client_requests_total, by User-Agent.
class Metrics {
 public:
  Metrics();
  ~Metrics();

  // A request for a resource that has been answered; a watch when it begins.
  // Where a fault has kept back the answer, `code` is 0.
  void Count(const Request& request, const RequestInfo& info, int code,
             std::chrono::duration<double> seconds);

  // The text that Prometheus reads.
  std::string Text() const;

  // minisched_client_requests_total as a list of objects: userAgent, verb as
  // RequestInfo has it, resource, subresource and count.
  Json Clients() const;

 private:
  struct Families;
  std::unique_ptr<Families> families_;
};

}  // namespace minisched::apiserver
