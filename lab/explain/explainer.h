#pragma once

#include <chrono>
#include <stop_token>

#include "lab/explain/answer.h"
#include "lab/explain/trial.h"

namespace minisched::explain {

// Plays the experiment and explains its outcome: why the pod fits no node, or
// which node it gets. With `suggest`, also plays changes that may help: at most
// 12, for at most `suggestion_time`. Throws CannotTell, Cancelled, and errors
// of the client. REQUIRES: called on the main thread.
Answer Explain(const Experiment& experiment, bool suggest,
               const std::stop_token& stop,
               std::chrono::seconds suggestion_time = std::chrono::seconds(30));

}  // namespace minisched::explain
