// Describes an attempt for the trace: from this step's types to an Attempt.
#include "scheduler.h"

namespace minisched {

Attempt Scheduler::DescribeAttempt(const QueuedPodInfo& info,
                                   const Nodes& nodes, const std::string& host,
                                   const std::string& failure) {
  std::vector<NodeVerdict> verdicts;
  verdicts.reserve(nodes.size());
  for (const auto& node : nodes) {
    verdicts.emplace_back().node = node->metadata.name;
  }
  return {.pod = ObjectName(info.pod->metadata),
          .uid = info.pod->metadata.uid,
          .number = info.attempts,
          .nodes = std::move(verdicts),
          .node = host,
          .failure = failure};
}

}  // namespace minisched
