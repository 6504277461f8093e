#include "lab/apiserver/kinds/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/case_conv.hpp>
#include <boost/algorithm/string/join.hpp>
#include <boost/algorithm/string/trim.hpp>
#include <map>
#include <set>
#include <utility>

#include "lab/apiserver/kinds/cells.h"
#include "lab/apiserver/views.h"

namespace minisched::apiserver {
namespace {

// ---- Cells.

// Returns how long ago a metav1.Time was ("5m"), or "<unknown>" for null.
std::string Ago(const Json& time, Time now) {
  return time.is_string() ? HumanDuration(now - ParseTime(GetString(time)))
                          : "<unknown>";
}

const Json& Condition(const Json& object, std::string_view type) {
  return FindBy(Get(object, "status", "conditions"), "type", type);
}

// ---- Cells of nodes.

Json NodeStatus(const Json& node, Time /*now*/) {
  const std::string ready = GetString(Condition(node, "Ready"), "status");
  return std::string(ready.empty()     ? "Unknown"
                     : ready == "True" ? "Ready"
                                       : "NotReady") +
         (GetBool(node, "spec", "unschedulable") ? ",SchedulingDisabled" : "");
}

Json NodeRoles(const Json& node, Time /*now*/) {
  constexpr std::string_view kPrefix = "node-role.kubernetes.io/";
  std::set<std::string> roles;
  for (const auto& [key, value] : Get(node, "metadata", "labels").items()) {
    if (key.starts_with(kPrefix)) roles.insert(key.substr(kPrefix.size()));
    if (key == "kubernetes.io/role") roles.insert(GetString(value));
  }
  return roles.empty() ? "<none>" : boost::algorithm::join(roles, ",");
}

Column::Cell NodeAddress(const char* type) {
  return [type](const Json& node, Time) {
    const Json& addresses = Get(node, "status", "addresses");
    return FindBy(addresses, "type", type).is_null()
               ? "<none>"
               : GetString(FindBy(addresses, "type", type), "address");
  };
}

Json NodeKernel(const Json& node, Time /*now*/) {
  const Json& info = Get(node, "status", "nodeInfo");
  const std::string kernel = GetString(info, "kernelVersion");
  const std::string architecture = GetString(info, "architecture");
  return (kernel.empty() ? "<unknown>" : kernel) +
         (architecture.empty() ? "" : " (" + architecture + ")");
}

// ---- Cells of pods. They show only the states that the kubelet simulator or a
// scheduler can cause.

// Returns the statuses of the containers that run as long as the pod: its
// containers, and the sidecars among its init containers. The status of a
// container is null if the pod's status lacks it.
std::vector<const Json*> ContainerStatuses(const Json& pod) {
  static const Json none;
  std::vector<const Json*> found;
  const auto add = [&](const char* list, const char* statuses, bool sidecars) {
    const auto by_name = IndexBy(Get(pod, "status", statuses), "name");
    for (const Json& container : Get(pod, "spec", list)) {
      if (sidecars && Get(container, "restartPolicy") != "Always") continue;
      const auto status = by_name.find(GetString(container, "name"));
      found.push_back(status == by_name.end() ? &none : status->second);
    }
  };
  add("containers", "containerStatuses", /*sidecars=*/false);
  add("initContainers", "initContainerStatuses", /*sidecars=*/true);
  return found;
}

Json PodReady(const Json& pod, Time /*now*/) {
  const std::vector<const Json*> all = ContainerStatuses(pod);
  const auto ready = std::ranges::count_if(
      all, [](const Json* status) { return GetBool(*status, "ready"); });
  return fmt::format("{}/{}", ready, all.size());
}

Json PodRestarts(const Json& pod, Time /*now*/) {
  std::int64_t restarts = 0;
  for (const Json* container : ContainerStatuses(pod)) {
    restarts += GetInt(*container, "restartCount");
  }
  return std::to_string(restarts);
}

// Returns "Terminating" if the pod is being deleted and has not ended.
// Otherwise returns the reason of the first container that waits or has ended,
// or the pod's own reason or phase if no container has one.
Json PodStatus(const Json& pod, Time /*now*/) {
  const Json& status = Get(pod, "status");
  const std::string phase = GetString(status, "phase");
  if (IsTerminating(pod) && phase != "Failed" && phase != "Succeeded") {
    return "Terminating";
  }
  for (const Json* container : ContainerStatuses(pod)) {
    for (const char* state : {"waiting", "terminated"}) {
      const Json& reason = Get(*container, "state", state, "reason");
      if (!reason.is_null()) return reason;
    }
  }
  if (Get(Condition(pod, "PodScheduled"), "reason") == "SchedulingGated") {
    return "SchedulingGated";
  }
  const std::string reason = GetString(status, "reason");
  return reason.empty() ? phase : reason;
}

Json ReadinessGates(const Json& pod, Time /*now*/) {
  const Json& gates = Get(pod, "spec", "readinessGates");
  if (gates.empty()) return "<none>";
  const auto conditions = IndexBy(Get(pod, "status", "conditions"), "type");
  const auto is_met = [&](const Json& gate) {
    const auto condition = conditions.find(GetString(gate, "conditionType"));
    return condition != conditions.end() &&
           Get(*condition->second, "status") == "True";
  };
  return fmt::format("{}/{}", std::count_if(gates.begin(), gates.end(), is_met),
                     gates.size());
}

// ---- Cells of events.

Json LastSeen(const Json& event, Time now) {
  Json time = Get(event, "series", "lastObservedTime");
  for (const char* key : {"lastTimestamp", "firstTimestamp", "eventTime"}) {
    if (time.is_null()) time = Get(event, key);
  }
  return Ago(time, now);
}

Json EventObject(const Json& event, Time /*now*/) {
  const Json& about = Get(event, "involvedObject");
  const std::string name = GetString(about, "name");
  return boost::algorithm::to_lower_copy(GetString(about, "kind")) +
         (name.empty() ? "" : "/" + name);
}

Json FirstSeen(const Json& event, Time now) {
  const Json& first = Get(event, "firstTimestamp");
  return Ago(first.is_null() ? Get(event, "eventTime") : first, now);
}

// Returns the component that reported the event, and its host: "kubelet, n".
Json EventSource(const Json& event, Time /*now*/) {
  const auto either = [&](const char* of_source, const char* reporting) {
    const std::string old = GetString(event, "source", of_source);
    return old.empty() ? GetString(event, reporting) : old;
  };
  const std::string instance = either("host", "reportingInstance");
  return either("component", "reportingComponent") +
         (instance.empty() ? "" : ", " + instance);
}

// Returns how often the event occurred. An event with neither a series nor a
// count occurred once.
Json EventCount(const Json& event, Time /*now*/) {
  const Json& series = Get(event, "series");
  if (!series.is_null()) return GetInt(series, "count");
  return std::max<std::int64_t>(GetInt(event, "count"), 1);
}

Json EventMessage(const Json& event, Time /*now*/) {
  return boost::algorithm::trim_copy(GetString(event, "message"));
}

// Returns a cell for events in the form of either API group. `cell` is for the
// form of the core group.
Column::Cell OfEvent(Column::Cell cell) {
  return [cell = std::move(cell)](const Json& event, Time now) {
    return cell(FromEventsV1(event), now);
  };
}

// ---- All columns.

Column Wide(const char* name, Column::Cell cell) {
  return {name, std::move(cell), "string", /*wide=*/true};
}

std::map<std::string, Columns, std::less<>> MakeColumns() {
  const Column name = {"Name", Value("/metadata/name")};
  const Column age = {"Age", Since("/metadata/creationTimestamp")};
  const Columns events = {
      {"Last Seen", OfEvent(LastSeen)},
      {"Type", Value("/type")},
      {"Reason", Value("/reason")},
      {"Object", OfEvent(EventObject)},
      Wide("Subobject", OfEvent(Value("/involvedObject/fieldPath"))),
      Wide("Source", OfEvent(EventSource)),
      {"Message", OfEvent(EventMessage)},
      Wide("First Seen", OfEvent(FirstSeen)),
      Wide("Count", OfEvent(EventCount)),
      Wide("Name", Value("/metadata/name"))};
  std::map<std::string, Columns, std::less<>> all = {
      {"", {name, age}},
      {"events", events},
      {"events.events.k8s.io", events},
      {"namespaces", {name, {"Status", Value("/status/phase")}, age}},
      {"nodes",
       {name,
        {"Status", NodeStatus},
        {"Roles", NodeRoles},
        age,
        {"Version", Value("/status/nodeInfo/kubeletVersion")},
        Wide("Internal-IP", NodeAddress("InternalIP")),
        Wide("External-IP", NodeAddress("ExternalIP")),
        Wide("OS-Image", Value("/status/nodeInfo/osImage", "<unknown>")),
        Wide("Kernel-Version", NodeKernel),
        Wide("Container-Runtime",
             Value("/status/nodeInfo/containerRuntimeVersion", "<unknown>"))}},
      {"pods",
       {name,
        {"Ready", PodReady},
        {"Status", PodStatus},
        {"Restarts", PodRestarts},
        age,
        Wide("IP", Value("/status/podIPs/0/ip", "<none>")),
        Wide("Node", Value("/spec/nodeName", "<none>")),
        Wide("Nominated Node", Value("/status/nominatedNodeName", "<none>")),
        Wide("Readiness Gates", ReadinessGates)}},
      {"deployments.apps",
       {name,
        {"Ready", ReadyReplicas},
        {"Up-to-date", Value("/status/updatedReplicas", 0)},
        {"Available", Value("/status/availableReplicas", 0)},
        age}},
      {"replicasets.apps",
       {name, Integer("Desired", "/spec/replicas"),
        Integer("Current", "/status/replicas"),
        Integer("Ready", "/status/readyReplicas"), age}},
      {"poddisruptionbudgets.policy",
       {name,
        {"Min Available", Value("/spec/minAvailable", "N/A")},
        {"Max Unavailable", Value("/spec/maxUnavailable", "N/A")},
        Integer("Allowed Disruptions", "/status/disruptionsAllowed"),
        age}},
      {"priorityclasses.scheduling.k8s.io",
       {name,
        Integer("Value", "/value"),
        {"Global-Default", Value("/globalDefault", false), "boolean"},
        age,
        {"PreemptionPolicy", Value("/preemptionPolicy")}}},
      {"leases.coordination.k8s.io",
       {name, {"Holder", Value("/spec/holderIdentity")}, age}},
  };
  AddStoredColumns(all);
  AddVolumeColumns(all);
  return all;
}

// Formats a number with its unit ("3h"), followed by the rest if the rest is
// not zero ("3h25m").
std::string InTwoUnits(std::int64_t number, const char* unit, std::int64_t rest,
                       const char* rest_unit) {
  return fmt::format("{}{}", number, unit) +
         (rest == 0 ? "" : fmt::format("{}{}", rest, rest_unit));
}

}  // namespace

Column::Cell Value(const char* path, Json none) {
  return [path = Json::json_pointer(path), none = std::move(none)](
             const Json& object, Time) {
    const Json value = object.contains(path) ? object.at(path) : Json();
    if (value.is_null() || (value.is_string() && GetString(value).empty())) {
      return none;
    }
    return none.is_string() && value.is_number() ? Json(value.dump()) : value;
  };
}

Column::Cell Since(const char* path, const char* none) {
  return [path = Json::json_pointer(path), none](const Json& object, Time now) {
    const Json time = object.contains(path) ? object.at(path) : Json();
    return time.is_null() ? none : Ago(time, now);
  };
}

Json ReadyReplicas(const Json& object, Time /*now*/) {
  return fmt::format("{}/{}", GetInt(object, "status", "readyReplicas"),
                     GetInt(object, "spec", "replicas"));
}

Column Integer(const char* name, const char* path) {
  return {name, Value(path, 0), "integer"};
}

const Columns& FindColumns(std::string_view resource) {
  static const auto& all = *new auto(MakeColumns());
  const auto columns = all.find(resource);
  return columns == all.end() ? all.at("") : columns->second;
}

std::string HumanDuration(std::chrono::microseconds duration) {
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(duration).count();
  const auto minutes = seconds / 60;
  const auto hours = minutes / 60;
  const auto days = hours / 24;
  const auto years = days / 365;
  // Another machine's clock may be slightly ahead.
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return fmt::format("{}s", seconds);
  if (minutes < 10) return InTwoUnits(minutes, "m", seconds % 60, "s");
  if (hours < 3) return fmt::format("{}m", minutes);
  if (hours < 8) return InTwoUnits(hours, "h", minutes % 60, "m");
  if (hours < 48) return fmt::format("{}h", hours);
  if (days < 8) return InTwoUnits(days, "d", hours % 24, "h");
  if (years < 2) return fmt::format("{}d", days);
  if (years < 8) return InTwoUnits(years, "y", days % 365, "d");
  return fmt::format("{}y", years);
}

}  // namespace minisched::apiserver
