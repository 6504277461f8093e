#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <vector>

namespace minisched::explain {

// Returns what a running scheduler knows of a pod ("default/web"): its place,
// since when and until when, its position in activeQ, its attempts, and the
// events that may wake it. The scheduler serves its trace at `url`. Waits for
// the pod for about `patience`, but always reads all earlier records. Throws
// CannotTell, and Cancelled.
std::vector<std::string> AskRunningScheduler(
    const std::string& url, const std::string& pod, const std::stop_token& stop,
    std::chrono::milliseconds patience = std::chrono::seconds(20));

}  // namespace minisched::explain
