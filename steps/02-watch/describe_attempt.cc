// Describes an attempt for the trace: from this step's types to an Attempt.
#include "scheduler.h"

namespace minisched {

Attempt Scheduler::DescribeAttempt(const QueuedPodInfo& info,
                                   const Nodes& nodes, const std::string& host,
                                   const std::string& failure) {
  std::vector<std::string> fits;
  fits.reserve(nodes.size());
  for (const auto& node : nodes) fits.push_back(node->metadata.name);
  return {.pod = ObjectName(info.pod->metadata),
          .uid = info.pod->metadata.uid,
          .number = info.attempts,
          .fits = std::move(fits),
          .node = host,
          .failure = failure};
}

}  // namespace minisched
