#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "minisched/apiserver/errors.h"
#include "minisched/apiserver/http/http.h"
#include "minisched/apiserver/loop.h"

namespace minisched::apiserver {

// What befalls one request, by the faults that strike it (faults.h). By default
// nothing does.
struct FaultEffect {
  enum class End {
    kAnswer,  // as without a fault
    kError,
    kDrop,  // the connection is closed without an answer
    kHang,  // no answer, for as long as the client waits
  };

  // Before the request is handled.
  std::chrono::milliseconds latency{0};
  End end = End::kAnswer;
  // The end comes after the request has taken effect, not instead of it.
  bool after = false;
  // Set for kError.
  std::optional<StatusError> error;
  // Of a watch: each event is sent so much later, and the connection is broken
  // off so long after the beginning.
  std::chrono::milliseconds watch_delay{0};
  std::optional<std::chrono::milliseconds> watch_cut;

  bool DoesNothing() const {
    return latency.count() == 0 && end == End::kAnswer &&
           watch_delay.count() == 0 && !watch_cut;
  }
};

// Answers a request as `effect` has it: `handle` makes it take effect, and
// `respond` is called once, now or later. On the loop's thread only.
void Befall(Loop& loop, const FaultEffect& effect,
            const std::function<Reply()>& handle,
            const std::function<void(Reply)>& respond);

}  // namespace minisched::apiserver
