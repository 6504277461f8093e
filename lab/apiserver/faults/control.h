#pragma once

#include <chrono>
#include <functional>

#include "lab/apiserver/faults/faults.h"
#include "lab/apiserver/http/http.h"
#include "lab/apiserver/metrics.h"
#include "lab/apiserver/store.h"

namespace minisched::apiserver {

// The paths below /minisched/, by which a client makes the server misbehave and
// asks what it has been asked. They are of no API group, aren't counted as
// requests, and no fault strikes them. On the loop's thread only.
struct Control {
  Faults& faults;
  Store& store;
  const Metrics& metrics;
  // Called when a client that asks for it has its answer.
  std::function<void(std::chrono::milliseconds)> go_away;

  static bool Owns(const Request& request) {
    return request.path.starts_with("/minisched/");
  }
  // Of a request that it owns. Throws StatusError.
  Reply Handle(const Request& request);
};

}  // namespace minisched::apiserver
