// Describes a try for the trace: from this step's types to an Attempt.
#include "scheduler.h"

namespace minisched {

Attempt Scheduler::DescribeAttempt(const QueuedPodInfo& info,
                                   const Nodes& nodes, const std::string& host,
                                   const std::string& failure) {
  Attempt attempt{.pod = ObjectName(info.pod->metadata),
                  .uid = info.pod->metadata.uid,
                  .number = info.attempts,
                  .node = host,
                  .failure = failure};
  for (const auto& node : nodes) {
    attempt.nodes.push_back({.node = node->metadata.name});
  }
  return attempt;
}

}  // namespace minisched
