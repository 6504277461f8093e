#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "lab/apiserver/http/http.h"
#include "lab/apiserver/object.h"
#include "lab/apiserver/rest.h"

namespace minisched::apiserver {

// The metrics at /metrics. apiserver_request_total and
// apiserver_request_duration_seconds are kube-apiserver's.
// minisched_client_requests_total, by User-Agent, is this server's own.
class Metrics {
 public:
  Metrics();
  ~Metrics();

  // Counts an answered request for a resource; a watch counts when it begins.
  // `code` is 0 if a fault withheld the answer.
  void Count(const Request& request, const RequestInfo& info, int code,
             std::chrono::duration<double> seconds);

  // Returns the metrics in Prometheus' text format.
  std::string Text() const;

  // Returns minisched_client_requests_total as a list of objects with
  // userAgent, verb (RequestInfo's), resource, subresource and count.
  Json Clients() const;

 private:
  struct Families;
  std::unique_ptr<Families> families_;
};

}  // namespace minisched::apiserver
