#pragma once

#include <chrono>
#include <functional>

#include "lab/apiserver/faults/faults.h"
#include "lab/apiserver/http/http.h"
#include "lab/apiserver/metrics.h"
#include "lab/apiserver/store.h"

namespace minisched::apiserver {

// The paths below /minisched/, with which a client injects faults and reads the
// counts of requests. They belong to no API group and are not counted as
// requests, and no fault applies to them. Used on the loop's thread only.
struct Control {
  Faults& faults;
  Store& store;
  const Metrics& metrics;
  // Called after the client that requested it has its answer.
  std::function<void(std::chrono::milliseconds)> go_away;

  static bool Owns(const Request& request) {
    return request.path.starts_with("/minisched/");
  }
  // Answers a request. Throws StatusError. REQUIRES: Owns(request).
  Reply Handle(const Request& request);
};

}  // namespace minisched::apiserver
