#pragma once

#include <chrono>
#include <functional>

#include "minisched/apiserver/faults/faults.h"
#include "minisched/apiserver/http/http.h"
#include "minisched/apiserver/metrics.h"
#include "minisched/apiserver/store.h"

namespace minisched::apiserver {

// The paths below /minisched/, by which a client makes the server misbehave and
// asks what it has been asked. They are of no API group, aren't counted as
// requests, and no fault strikes them. On the loop's thread only.
class Control {
 public:
  // `go_away` is called when a client that asks for it has its answer.
  using GoAway = std::function<void(std::chrono::milliseconds)>;
  Control(Faults& faults, Store& store, const Metrics& metrics, GoAway go_away);

  static bool Owns(const Request& request);
  // Of a request that it owns. Throws StatusError.
  Reply Handle(const Request& request);

 private:
  Reply HandleFaults(const Request& request);
  Reply HandleAway(const Request& request);

  Faults& faults_;
  Store& store_;
  const Metrics& metrics_;
  const GoAway go_away_;
};

}  // namespace minisched::apiserver
