#pragma once

#include <stop_token>

#include "lab/live/scheduler_source.h"

namespace minisched::live {

// Serves a page of a cluster and a scheduler in another process, until `stop`
// asks to stop. Throws the errors of the client, and std::runtime_error.
// REQUIRES: called on the main thread.
void ServeCluster(const ClusterOptions& options, const std::stop_token& stop);

}  // namespace minisched::live
