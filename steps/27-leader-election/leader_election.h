#pragma once

#include "minisched/app/app.h"
#include "scheduler.h"

namespace minisched {

// Runs a scheduler until context.stop asks to stop. With leader election, the
// scheduler only reads the cluster until it holds the Lease, and releases the
// Lease when its last Binding has ended. Adds the health checks of the
// scheduler. Throws std::runtime_error if it loses the Lease.
void RunElected(const AppContext& context, SchedulerOptions options);

}  // namespace minisched
