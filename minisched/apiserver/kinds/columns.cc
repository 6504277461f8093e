#include "minisched/apiserver/kinds/columns.h"

#include <algorithm>
#include <boost/algorithm/string/case_conv.hpp>
#include <boost/algorithm/string/join.hpp>
#include <boost/algorithm/string/trim.hpp>
#include <map>
#include <set>
#include <utility>

#include "minisched/apiserver/views.h"

namespace minisched::apiserver {
namespace {

using boost::algorithm::join;

const Json& AtPath(const Json& object, std::string_view path) {
  const std::size_t dot = path.find('.');
  const Json& member = Get(object, path.substr(0, dot));
  return dot == path.npos ? member : AtPath(member, path.substr(dot + 1));
}

// The same column, said to be of text.
Column AsText(Column column) {
  column.type = "string";
  return column;
}

Json ReadyReplicas(const Json& object, Time /*now*/) {
  return std::to_string(GetInt(object, "status", "readyReplicas")) + "/" +
         std::to_string(GetInt(object, "spec", "replicas"));
}

Json NodeStatus(const Json& node, Time /*now*/) {
  const Json& conditions = Get(node, "status", "conditions");
  const std::string ready =
      GetString(FindBy(conditions, "type", "Ready"), "status");
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
  roles.erase("");
  return OrElse(join(roles, ","), "<none>");
}

Column NodeAddress(std::string name, const std::string& type) {
  return Wide({std::move(name), [type](const Json& node, Time) {
                 const Json& addresses = Get(node, "status", "addresses");
                 const Json& found = FindBy(addresses, "type", type);
                 return Json(OrElse(GetString(found, "address"), "<none>"));
               }});
}

Json NodeKernel(const Json& node, Time /*now*/) {
  const Json& info = Get(node, "status", "nodeInfo");
  const std::string architecture = GetString(info, "architecture");
  return OrElse(GetString(info, "kernelVersion"), "<unknown>") +
         (architecture.empty() ? "" : " (" + architecture + ")");
}

Columns NodeColumns() {
  const auto info = [](const char* name, const std::string& key,
                       const char* none) {
    return ValueColumn(name, "status.nodeInfo." + key, none);
  };
  return {
      NameColumn(),
      {"Status", NodeStatus},
      {"Roles", NodeRoles},
      AgeColumn(),
      info("Version", "kubeletVersion", ""),
      NodeAddress("Internal-IP", "InternalIP"),
      NodeAddress("External-IP", "ExternalIP"),
      Wide(info("OS-Image", "osImage", "<unknown>")),
      Wide({"Kernel-Version", NodeKernel}),
      Wide(info("Container-Runtime", "containerRuntimeVersion", "<unknown>"))};
}

Json LastSeen(const Json& event, Time now) {
  Json time = Get(event, "series", "lastObservedTime");
  for (const char* key : {"lastTimestamp", "firstTimestamp", "eventTime"}) {
    if (time.is_null()) time = Get(event, key);
  }
  return Ago(time, now);
}

Json EventObject(const Json& event, Time /*now*/) {
  const std::string name = GetString(event, "involvedObject", "name");
  return boost::algorithm::to_lower_copy(
             GetString(event, "involvedObject", "kind")) +
         (name.empty() ? "" : "/" + name);
}

Json EventMessage(const Json& event, Time /*now*/) {
  return boost::algorithm::trim_copy(GetString(event, "message"));
}

Columns EventColumns() {
  return {{"Last Seen", LastSeen},
          ValueColumn("Type", "type"),
          ValueColumn("Reason", "reason"),
          {"Object", EventObject},
          {"Message", EventMessage}};
}

// Both forms of an event print alike.
Columns EventsV1Columns() {
  Columns columns = EventColumns();
  for (Column& column : columns) {
    column.cell = [cell = std::move(column.cell)](const Json& event, Time now) {
      return cell(FromEventsV1(event), now);
    };
  }
  return columns;
}

std::map<std::string, Columns, std::less<>> MakeColumns() {
  const Column name = NameColumn();
  const Column age = AgeColumn();
  return {
      {"events", EventColumns()},
      {"namespaces", {name, ValueColumn("Status", "status.phase"), age}},
      {"nodes", NodeColumns()},
      {"pods", PodColumns()},
      {"deployments.apps",
       {name,
        {"Ready", ReadyReplicas},
        AsText(ValueColumn("Up-to-date", "status.updatedReplicas", 0)),
        AsText(ValueColumn("Available", "status.availableReplicas", 0)),
        age}},
      {"replicasets.apps",
       {name, ValueColumn("Desired", "spec.replicas", 0),
        ValueColumn("Current", "status.replicas", 0),
        ValueColumn("Ready", "status.readyReplicas", 0), age}},
      {"events.events.k8s.io", EventsV1Columns()},
      {"poddisruptionbudgets.policy",
       {name, ValueColumn("Min Available", "spec.minAvailable", "N/A"),
        ValueColumn("Max Unavailable", "spec.maxUnavailable", "N/A"),
        ValueColumn("Allowed Disruptions", "status.disruptionsAllowed", 0),
        age}},
      {"priorityclasses.scheduling.k8s.io",
       {name, ValueColumn("Value", "value", 0),
        ValueColumn("Global-Default", "globalDefault", false), age,
        ValueColumn("PreemptionPolicy", "preemptionPolicy")}},
      {"leases.coordination.k8s.io",
       {name, ValueColumn("Holder", "spec.holderIdentity"), age}},
  };
}

// A number and its unit, and the rest if it is not zero: "3h25m".
std::string Rounded(std::int64_t number, const char* unit, std::int64_t rest,
                    const char* rest_unit) {
  return std::to_string(number) + unit +
         (rest == 0 ? "" : std::to_string(rest) + rest_unit);
}

}  // namespace

const Columns& FindColumns(std::string_view resource) {
  static const auto& all = *new auto(MakeColumns());
  static const auto& name_and_age = *new Columns{NameColumn(), AgeColumn()};
  const auto columns = all.find(resource);
  return columns == all.end() ? name_and_age : columns->second;
}

Column NameColumn() {
  return {"Name", [](const Json& object, Time) { return NameOf(object); }};
}

Column AgeColumn() {
  return {"Age", [](const Json& object, Time now) {
            return Ago(Get(object, "metadata", "creationTimestamp"), now);
          }};
}

Column ValueColumn(std::string name, std::string path, Json none) {
  const char* const type = none.is_boolean()  ? "boolean"
                           : none.is_number() ? "integer"
                                              : "string";
  return {std::move(name),
          [path = std::move(path), none = std::move(none)](const Json& object,
                                                           Time) {
            const Json& value = AtPath(object, path);
            const bool empty = value.is_null() ||
                               (value.is_string() && GetString(value).empty());
            if (empty) return none;
            // Of what may be a number or a string the cell is a string.
            return none.is_string() && value.is_number() ? Json(value.dump())
                                                         : value;
          },
          type};
}

Column Wide(Column column) {
  column.wide = true;
  return column;
}

std::string OrElse(const std::string& text, std::string_view none) {
  return text.empty() ? std::string(none) : text;
}

std::string Ago(const Json& time, Time now) {
  return time.is_string() ? HumanDuration(now - ParseTime(GetString(time)))
                          : "<unknown>";
}

std::string HumanDuration(std::chrono::microseconds duration) {
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(duration).count();
  const auto minutes = seconds / 60;
  const auto hours = minutes / 60;
  const auto days = hours / 24;
  const auto years = days / 365;
  // A clock may be a little ahead of another's.
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return std::to_string(seconds) + "s";
  if (minutes < 10) return Rounded(minutes, "m", seconds % 60, "s");
  if (hours < 3) return std::to_string(minutes) + "m";
  if (hours < 8) return Rounded(hours, "h", minutes % 60, "m");
  if (hours < 48) return std::to_string(hours) + "h";
  if (days < 8) return Rounded(days, "d", hours % 24, "h");
  if (years < 2) return std::to_string(days) + "d";
  if (years < 8) return Rounded(years, "y", days % 365, "d");
  return std::to_string(years) + "y";
}

}  // namespace minisched::apiserver
