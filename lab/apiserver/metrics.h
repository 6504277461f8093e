#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "lab/apiserver/http.h"
#include "lab/apiserver/object.h"
#include "lab/apiserver/rest.h"

namespace minisched::apiserver {

// The metrics at /metrics. kube-apiserver also has apiserver_request_total and
// apiserver_request_duration_seconds. Only this server has
// minisched_client_requests_total, which counts requests by User-Agent.
class Metrics {
 public:
  Metrics();
  ~Metrics();

  // Counts a request for a resource. Call it when the request is answered, or
  // when a watch begins. `code` is 0 if a fault withheld or dropped the
  // response. `seconds` is the time that the response took.
  void Count(const Request& request, const RequestInfo& info, int code,
             std::chrono::duration<double> seconds);

  // Returns the metrics in Prometheus' text format.
  std::string Text() const;

  // Returns minisched_client_requests_total as a list of objects with
  // userAgent, verb (as in RequestInfo), resource, subresource and count.
  Json Clients() const;

 private:
  struct Families;
  std::unique_ptr<Families> families_;
};

}  // namespace minisched::apiserver
