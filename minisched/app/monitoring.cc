#include "minisched/app/monitoring.h"

#include <exception>
#include <variant>

#include "minisched/app/logging.h"
#include "minisched/client/kubeconfig.h"

namespace minisched {
namespace {

// Counts the pods in each part of the scheduling queue by their last records.
Metrics::PendingPods CountPendingPods(Trace& trace) {
  Metrics::PendingPods count;
  for (const RecordPtr& record : TraceReader(trace).Poll()) {
    const auto* pod = std::get_if<PodRecord>(&record->state);
    if (pod == nullptr) continue;
    if (pod->place == Place::kActive) ++count.active;
    if (pod->place == Place::kBackoff) ++count.backoff;
    if (pod->place == Place::kUnschedulable) ++count.unschedulable;
    if (pod->place == Place::kGated) ++count.gated;
  }
  return count;
}

// Counts a move if it leads to the scheduling queue.
void CountMove(Metrics& metrics, Place place, const std::string& event) {
  if (place == Place::kActive) metrics.QueueIncomingPods("active", event);
  if (place == Place::kBackoff) metrics.QueueIncomingPods("backoff", event);
  // Upstream keeps gated pods together with unschedulable ones.
  if (place == Place::kUnschedulable || place == Place::kGated) {
    metrics.QueueIncomingPods("unschedulable", event);
  }
}

}  // namespace

Monitoring::Monitoring(Trace& trace, const std::string& profile,
                       std::optional<unsigned short> port,
                       const std::stop_token& stop)
    : metrics_(profile),
      pending_pods_(metrics_.ReportPendingPods(
          [&trace] { return CountPendingPods(trace); })),
      shutdown_(health_.AddReadyzCheck("shutdown",
                                       [stop] {
                                         return stop.stop_requested()
                                                    ? "process is shutting down"
                                                    : "";
                                       })),
      startup_(health_.AddReadyzCheck("startup", [this] {
        return started_ ? "" : "the scheduler has not been started yet";
      })) {
  if (!port) return;
  trace.OnMoved([this](Place place, const std::string& event) {
    CountMove(metrics_, place, event);
  });
  Serve(*port);
}

void Monitoring::Serve(unsigned short port) {
  try {
    server_.emplace(port, metrics_, health_);
  } catch (const std::exception& error) {
    throw ConfigError("--metrics-port " + std::to_string(port) + ": " +
                      error.what());
  }
  spdlog::info("serving metrics and health checks at {}", server_->url());
}

}  // namespace minisched
