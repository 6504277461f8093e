#pragma once

#include <cstddef>
#include <map>
#include <stop_token>
#include <string>
#include <thread>
#include <variant>

#include "minisched/base/fake_clock.h"
#include "minisched/trace/trace.h"
#include "scheduler.h"
#include "testing/scripted_cluster.h"
#include "tests/random_cluster_testing.h"

namespace minisched {

// A scheduler that tries all pending pods of a cluster. Bindings fail, so no
// pod takes room, and the cluster stays the same.
class ScheduledCluster {
 public:
  explicit ScheduledCluster(const RandomCluster& cluster) {
    for (const auto& node : cluster.nodes) api_.Add(*node);
    for (const auto& pod : cluster.pods) api_.Add(*pod);
    for (const auto& pod : cluster.pending) api_.Add(*pod);
  }

  // Returns the first attempt of each pod, by the pod's uid.
  std::map<std::string, Attempt> Try(std::size_t pods) {
    TraceReader reader(trace_, AttemptDetail::kFirstRejections);
    Client client(api_.config());
    Scheduler scheduler({client, "minisched", trace_, {}}, {}, clock_);
    const std::jthread thread(
        [&](const std::stop_token& stop) { scheduler.Run(stop); });
    std::map<std::string, Attempt> attempts;
    while (attempts.size() < pods) {
      for (const RecordPtr& record : reader.Next({})) {
        const auto* attempt = std::get_if<Attempt>(&record->state);
        if (attempt == nullptr) continue;
        const bool is_new = attempts.emplace(attempt->uid, *attempt).second;
        if (is_new && !attempt->node.empty()) {
          api_.TakeBinding().reply.Send(504, R"({"kind":"Status"})");
        }
      }
    }
    return attempts;
  }

 private:
  FakeClock clock_;
  ScriptedCluster api_{clock_};
  Trace trace_{"minisched", clock_};
};

}  // namespace minisched
