#pragma once

#include <chrono>
#include <functional>

#include "lab/apiserver/faults/faults.h"
#include "lab/apiserver/http.h"
#include "lab/apiserver/metrics.h"
#include "lab/apiserver/store.h"

namespace minisched::apiserver {

// Serves the paths below /minisched/, with which a client sets the faults,
// compacts the store, makes the server unavailable and reads the counts of
// requests. The requests for these paths are not counted, and no fault applies
// to them. Use it on the loop's thread only.
struct Control {
  Faults& faults;
  Store& store;
  const Metrics& metrics;
  // Makes the server unavailable for a time. Called when the response to the
  // client's request has been sent.
  std::function<void(std::chrono::milliseconds)> go_away;

  static bool Owns(const Request& request) {
    return request.path.starts_with("/minisched/");
  }
  // Answers a request. Throws StatusError. REQUIRES: Owns(request).
  Reply Handle(const Request& request);
};

}  // namespace minisched::apiserver
