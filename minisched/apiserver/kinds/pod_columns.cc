// What is printed of a pod, which is told from all of its containers. Follows
// printPod() of kubernetes pkg/printers/internalversion/printers.go.

#include <algorithm>
#include <string>
#include <utility>

#include "minisched/apiserver/kinds/columns.h"

namespace minisched::apiserver {
namespace {

struct PodSummary {
  int ready = 0;  // of `total` containers
  int total = 0;
  std::string status;
  std::int64_t restarts = 0;
};

// "Error", "ExitCode:3", "Signal:9"
std::string TerminationReason(const Json& terminated) {
  std::string reason = GetString(terminated, "reason");
  if (!reason.empty()) return reason;
  const std::int64_t signal = GetInt(terminated, "signal");
  return signal != 0
             ? "Signal:" + std::to_string(signal)
             : "ExitCode:" + std::to_string(GetInt(terminated, "exitCode"));
}

// It starts before the containers, and goes on beside them: a sidecar.
bool IsRestartable(const Json& init_container) {
  return GetString(init_container, "restartPolicy") == "Always";
}

bool HasCondition(const Json& pod, std::string_view type) {
  const Json& conditions = Get(pod, "status", "conditions");
  return GetString(FindBy(conditions, "type", type), "status") == "True";
}

// Before any container is looked at.
std::string PhaseOf(const Json& pod) {
  const Json& status = Get(pod, "status");
  const Json& scheduled =
      FindBy(Get(status, "conditions"), "type", "PodScheduled");
  if (GetString(scheduled, "reason") == "SchedulingGated") {
    return "SchedulingGated";
  }
  return OrElse(GetString(status, "reason"), GetString(status, "phase"));
}

// Looks at the init containers up to the first that is still to succeed, and
// returns whether there is one.
bool AddInitContainers(const Json& pod, PodSummary& summary) {
  const Json& containers = Get(pod, "spec", "initContainers");
  int index = 0;
  std::int64_t restarts = 0;
  for (const Json& status : Get(pod, "status", "initContainerStatuses")) {
    const Json& terminated = Get(status, "state", "terminated");
    const std::string waiting = GetString(status, "state", "waiting", "reason");
    const bool restartable =
        IsRestartable(FindBy(containers, "name", GetString(status, "name")));
    restarts += GetInt(status, "restartCount");
    if (restartable) summary.restarts += GetInt(status, "restartCount");
    if (!terminated.is_null() && GetInt(terminated, "exitCode") == 0) {
      // Done.
    } else if (restartable && GetBool(status, "started")) {
      if (GetBool(status, "ready")) ++summary.ready;
    } else {
      const std::string progress =
          std::to_string(index) + "/" + std::to_string(containers.size());
      summary.status =
          "Init:" + (!terminated.is_null() ? TerminationReason(terminated)
                     : waiting == "PodInitializing"
                         ? progress
                         : OrElse(waiting, progress));
      summary.restarts = restarts;
      return true;
    }
    ++index;
  }
  return false;
}

// The first container that has something to say decides on the status.
void AddContainers(const Json& pod, PodSummary& summary) {
  bool has_running = false;
  std::string error;
  const Json& statuses = Get(pod, "status", "containerStatuses");
  for (auto status = statuses.rbegin(); status != statuses.rend(); ++status) {
    summary.restarts += GetInt(*status, "restartCount");
    const Json& terminated = Get(*status, "state", "terminated");
    const std::string waiting =
        GetString(*status, "state", "waiting", "reason");
    if (!waiting.empty()) {
      summary.status = waiting;
    } else if (!terminated.is_null()) {
      summary.status = TerminationReason(terminated);
      if (GetInt(terminated, "exitCode") != 0) error = summary.status;
    } else if (GetBool(*status, "ready") &&
               !Get(*status, "state", "running").is_null()) {
      has_running = true;
      ++summary.ready;
    }
  }
  if (summary.status != "Completed") return;
  if (has_running && HasCondition(pod, "Ready")) {
    summary.status = "Running";
  } else if (!error.empty()) {
    summary.status = error;
  } else if (has_running) {
    summary.status = "NotReady";
  }
}

PodSummary Summarize(const Json& pod) {
  const Json& init_containers = Get(pod, "spec", "initContainers");
  PodSummary summary;
  summary.status = PhaseOf(pod);
  summary.total =
      static_cast<int>(Get(pod, "spec", "containers").size() +
                       std::count_if(init_containers.begin(),
                                     init_containers.end(), IsRestartable));
  if (!AddInitContainers(pod, summary) || HasCondition(pod, "Initialized")) {
    AddContainers(pod, summary);
  }
  const std::string phase = GetString(pod, "status", "phase");
  if (IsTerminating(pod) && phase != "Failed" && phase != "Succeeded") {
    summary.status = "Terminating";
  }
  return summary;
}

Json Ready(const Json& pod, Time /*now*/) {
  const PodSummary summary = Summarize(pod);
  return std::to_string(summary.ready) + "/" + std::to_string(summary.total);
}

Json Status(const Json& pod, Time /*now*/) { return Summarize(pod).status; }

Json Restarts(const Json& pod, Time /*now*/) {
  return std::to_string(Summarize(pod).restarts);
}

Json PodIp(const Json& pod, Time /*now*/) {
  const Json& ips = Get(pod, "status", "podIPs");
  return ips.empty() ? "<none>" : GetString(ips[0], "ip");
}

Json ReadinessGates(const Json& pod, Time /*now*/) {
  const Json& gates = Get(pod, "spec", "readinessGates");
  if (gates.empty()) return "<none>";
  const auto open =
      std::count_if(gates.begin(), gates.end(), [&](const Json& gate) {
        return HasCondition(pod, GetString(gate, "conditionType"));
      });
  return std::to_string(open) + "/" + std::to_string(gates.size());
}

}  // namespace

Columns PodColumns() {
  return {
      NameColumn(),
      {"Ready", Ready},
      {"Status", Status},
      {"Restarts", Restarts},
      AgeColumn(),
      Wide({"IP", PodIp}),
      Wide(ValueColumn("Node", "spec.nodeName", "<none>")),
      Wide(ValueColumn("Nominated Node", "status.nominatedNodeName", "<none>")),
      Wide({"Readiness Gates", ReadinessGates})};
}

}  // namespace minisched::apiserver
