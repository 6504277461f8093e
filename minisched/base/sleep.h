#pragma once

#include <stop_token>

#include "minisched/base/clock.h"
#include "minisched/base/executor.h"
#include "minisched/base/task.h"

namespace minisched {

// Waits for `duration` by the executor's clock, or until `stop` asks to stop.
// Costs a timer, but no thread. The caller goes on as a task of the executor.
// REQUIRES: the executor runs until then, so ask to stop before it is drained.
Task<> SleepFor(Executor& executor, Clock::Duration duration,
                std::stop_token stop);

}  // namespace minisched
