#include "minisched/apiserver/columns.h"

#include <boost/algorithm/string/join.hpp>
#include <map>
#include <utility>

#include "minisched/apiserver/event_view.h"
#include "minisched/apiserver/selectors.h"

namespace minisched::apiserver {
namespace {

using boost::algorithm::join;

const Json& AtPath(const Json& object, std::string_view path) {
  if (path.empty()) return object;
  const std::size_t dot = path.find('.');
  const Json& member = Get(object, path.substr(0, dot));
  return dot == path.npos ? member : AtPath(member, path.substr(dot + 1));
}

// The same column, said to be of another type.
Column As(std::string type, Column column) {
  column.type = std::move(type);
  return column;
}

// The member `key` of each element of the list there, "a,b"; with no key, the
// elements.
Column ListColumn(std::string name, const std::string& path,
                  const std::string& key, const std::string& none = "") {
  return {std::move(name), [path, key, none](const Json& object, Time) {
            std::vector<std::string> texts;
            for (const Json& element : AtPath(object, path)) {
              texts.push_back(GetString(AtPath(element, key)));
            }
            return Json(OrElse(join(texts, ","), none));
          }};
}

constexpr const char* kContainers = "spec.template.spec.containers";

Column Containers() {
  return Wide(ListColumn("Containers", kContainers, "name"));
}

Column Images() { return Wide(ListColumn("Images", kContainers, "image")); }

Json ReadyReplicas(const Json& object, Time /*now*/) {
  return std::to_string(GetInt(object, "status", "readyReplicas")) + "/" +
         std::to_string(GetInt(object, "spec", "replicas"));
}

Json DataCount(const Json& object, Time /*now*/) {
  return Get(object, "data").size() + Get(object, "binaryData").size();
}

Json DriverCount(const Json& node, Time /*now*/) {
  return Get(node, "spec", "drivers").size();
}

Column StorageClassName() {
  Column column = NameColumn();
  column.cell = [](const Json& object, Time) {
    const Json& annotations = Get(object, "metadata", "annotations");
    for (const char* key :
         {"storageclass.kubernetes.io/is-default-class",
          "storageclass.beta.kubernetes.io/is-default-class"}) {
      if (Get(annotations, key) == "true") return NameOf(object) + " (default)";
    }
    return NameOf(object);
  };
  return column;
}

Column Attacher() {
  Column column = ValueColumn("Attacher", "spec.attacher");
  column.format = "name";
  return column;
}

Json ResourceClaimState(const Json& claim, Time /*now*/) {
  const Json& status = Get(claim, "status");
  const bool allocated = !Get(status, "allocation").is_null();
  std::vector<std::string> states;
  if (IsTerminating(claim)) states.emplace_back("deleted");
  if (allocated) states.emplace_back("allocated");
  if (allocated && !Get(status, "reservedFor").empty()) {
    states.emplace_back("reserved");
  }
  return OrElse(join(states, ","), "pending");
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
  const Column selector = Wide(
      {"Selector", [](const Json& object, Time) {
         return OrElse(SelectorText(Get(object, "spec", "selector")), "<none>");
       }});
  return {
      {"configmaps", {name, {"Data", DataCount}, age}},
      {"events", EventColumns()},
      {"namespaces", {name, ValueColumn("Status", "status.phase"), age}},
      {"nodes", NodeColumns()},
      {"persistentvolumeclaims", ClaimColumns()},
      {"persistentvolumes", VolumeColumns()},
      {"pods", PodColumns()},
      {"replicationcontrollers",
       {name, ValueColumn("Desired", "spec.replicas", 0),
        ValueColumn("Current", "status.replicas", 0),
        ValueColumn("Ready", "status.readyReplicas", 0), age, Containers(),
        Images(), Wide(LabelsColumn("Selector", "spec.selector"))}},
      {"secrets",
       {name, ValueColumn("Type", "type"), {"Data", DataCount}, age}},
      {"services", ServiceColumns()},
      {"daemonsets.apps",
       {name, ValueColumn("Desired", "status.desiredNumberScheduled", 0),
        ValueColumn("Current", "status.currentNumberScheduled", 0),
        ValueColumn("Ready", "status.numberReady", 0),
        ValueColumn("Up-to-date", "status.updatedNumberScheduled", 0),
        ValueColumn("Available", "status.numberAvailable", 0),
        LabelsColumn("Node Selector", "spec.template.spec.nodeSelector"), age,
        Containers(), Images(), selector}},
      {"deployments.apps",
       {name,
        {"Ready", ReadyReplicas},
        As("string", ValueColumn("Up-to-date", "status.updatedReplicas", 0)),
        As("string", ValueColumn("Available", "status.availableReplicas", 0)),
        age,
        Containers(),
        Images(),
        selector}},
      {"replicasets.apps",
       {name, ValueColumn("Desired", "spec.replicas", 0),
        ValueColumn("Current", "status.replicas", 0),
        ValueColumn("Ready", "status.readyReplicas", 0), age, Containers(),
        Images(), selector}},
      {"statefulsets.apps",
       {name, {"Ready", ReadyReplicas}, age, Containers(), Images()}},
      {"events.events.k8s.io", EventsV1Columns()},
      {"poddisruptionbudgets.policy",
       {name, ValueColumn("Min Available", "spec.minAvailable", "N/A"),
        ValueColumn("Max Unavailable", "spec.maxUnavailable", "N/A"),
        ValueColumn("Allowed Disruptions", "status.disruptionsAllowed", 0),
        age}},
      {"csidrivers.storage.k8s.io",
       {name, ValueColumn("AttachRequired", "spec.attachRequired", true),
        ValueColumn("PodInfoOnMount", "spec.podInfoOnMount", false),
        ValueColumn("StorageCapacity", "spec.storageCapacity", false),
        ListColumn("TokenRequests", "spec.tokenRequests", "audience",
                   "<unset>"),
        ValueColumn("RequiresRepublish", "spec.requiresRepublish", false),
        ListColumn("Modes", "spec.volumeLifecycleModes", "", "<none>"), age}},
      {"csinodes.storage.k8s.io",
       {name, As("integer", {"Drivers", DriverCount}), age}},
      // Upstream's has a printer too, which isn't used.
      {"csistoragecapacities.storage.k8s.io",
       {name,
        As("date", ValueColumn("Created At", "metadata.creationTimestamp"))}},
      {"storageclasses.storage.k8s.io",
       {StorageClassName(), ValueColumn("Provisioner", "provisioner"),
        ValueColumn("ReclaimPolicy", "reclaimPolicy", "Delete"),
        ValueColumn("VolumeBindingMode", "volumeBindingMode", "Immediate"),
        As("string",
           ValueColumn("AllowVolumeExpansion", "allowVolumeExpansion", false)),
        age}},
      {"volumeattachments.storage.k8s.io",
       {name, Attacher(), ValueColumn("PV", "spec.source.persistentVolumeName"),
        ValueColumn("Node", "spec.nodeName"),
        ValueColumn("Attached", "status.attached", false), age}},
      {"priorityclasses.scheduling.k8s.io",
       {name, ValueColumn("Value", "value", 0),
        ValueColumn("Global-Default", "globalDefault", false), age,
        ValueColumn("PreemptionPolicy", "preemptionPolicy")}},
      {"leases.coordination.k8s.io",
       {name, ValueColumn("Holder", "spec.holderIdentity"), age}},
      {"resourceclaims.resource.k8s.io",
       {name, {"State", ResourceClaimState}, age}},
      {"resourceslices.resource.k8s.io",
       {name, ValueColumn("Node", "spec.nodeName"),
        ValueColumn("Driver", "spec.driver"),
        ValueColumn("Pool", "spec.pool.name"), age}},
  };
}

// A number and its unit, and the rest if it is not zero: "3h25m".
std::string Rounded(std::int64_t number, const char* unit, std::int64_t rest,
                    const char* rest_unit) {
  return std::to_string(number) + unit +
         (rest == 0 ? "" : std::to_string(rest) + rest_unit);
}

}  // namespace

const Columns* FindColumns(std::string_view resource) {
  static const auto& all = *new auto(MakeColumns());
  const auto columns = all.find(resource);
  return columns == all.end() ? nullptr : &columns->second;
}

const Columns& NameAndAge() {
  static const auto& columns = *new Columns{NameColumn(), AgeColumn()};
  return columns;
}

Column NameColumn() {
  return {.name = "Name",
          .cell = [](const Json& object, Time) { return NameOf(object); },
          .format = "name"};
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

Column LabelsColumn(std::string name, const std::string& path) {
  return {std::move(name), [path](const Json& object, Time) {
            std::vector<std::string> pairs;
            for (const auto& [key, value] : AtPath(object, path).items()) {
              pairs.push_back(key + "=" + GetString(value));
            }
            return Json(OrElse(join(pairs, ","), "<none>"));
          }};
}

Column Wide(Column column) {
  column.priority = 1;
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
