// The columns of those resources of the core group of which more is printed
// than what is at some path.

#include <algorithm>
#include <boost/algorithm/string/case_conv.hpp>
#include <boost/algorithm/string/join.hpp>
#include <boost/algorithm/string/predicate.hpp>
#include <boost/algorithm/string/trim.hpp>
#include <set>
#include <utility>

#include "minisched/apiserver/columns.h"

namespace minisched::apiserver {
namespace {

using boost::algorithm::join;

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
    if (boost::algorithm::starts_with(key, kPrefix)) {
      roles.insert(key.substr(kPrefix.size()));
    } else if (key == "kubernetes.io/role") {
      roles.insert(GetString(value));
    }
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

Json ServiceExternalIp(const Json& service, Time /*now*/) {
  const Json& spec = Get(service, "spec");
  const std::string type = GetString(spec, "type");
  if (type == "ExternalName") return GetString(spec, "externalName");
  std::vector<std::string> addresses;
  if (type == "LoadBalancer") {
    std::set<std::string> sorted;
    for (const Json& ingress :
         Get(service, "status", "loadBalancer", "ingress")) {
      sorted.insert(
          OrElse(GetString(ingress, "ip"), GetString(ingress, "hostname")));
    }
    sorted.erase("");
    addresses.assign(sorted.begin(), sorted.end());
  }
  for (const Json& ip : Get(spec, "externalIPs")) {
    addresses.push_back(GetString(ip));
  }
  return OrElse(join(addresses, ","),
                type == "LoadBalancer" ? "<pending>" : "<none>");
}

Json ServicePorts(const Json& service, Time /*now*/) {
  std::vector<std::string> texts;
  for (const Json& port : Get(service, "spec", "ports")) {
    const std::int64_t node_port = GetInt(port, "nodePort");
    texts.push_back(std::to_string(GetInt(port, "port")) +
                    (node_port > 0 ? ":" + std::to_string(node_port) : "") +
                    "/" + GetString(port, "protocol"));
  }
  return OrElse(join(texts, ","), "<none>");
}

Json ServiceClusterIp(const Json& service, Time /*now*/) {
  const Json& ips = Get(service, "spec", "clusterIPs");
  return ips.empty() ? "<none>" : GetString(ips.front());
}

// Of volumes and claims.
Json VolumePhase(const Json& object, Time /*now*/) {
  return IsTerminating(object) ? "Terminating"
                               : GetString(object, "status", "phase");
}

Json VolumeClass(const Json& object, Time /*now*/) {
  const Json& beta = Get(object, "metadata", "annotations",
                         "volume.beta.kubernetes.io/storage-class");
  return GetString(beta.is_null() ? Get(object, "spec", "storageClassName")
                                  : beta);
}

std::string AccessModes(const Json& modes) {
  constexpr std::pair<const char*, const char*> kShort[] = {
      {"ReadWriteOnce", "RWO"},
      {"ReadOnlyMany", "ROX"},
      {"ReadWriteMany", "RWX"},
      {"ReadWriteOncePod", "RWOP"}};
  std::vector<std::string> texts;
  for (const auto& [mode, text] : kShort) {
    if (std::find(modes.begin(), modes.end(), mode) != modes.end()) {
      texts.emplace_back(text);
    }
  }
  return join(texts, ",");
}

Json VolumeAccessModes(const Json& volume, Time /*now*/) {
  return AccessModes(Get(volume, "spec", "accessModes"));
}

Json VolumeClaim(const Json& volume, Time /*now*/) {
  const Json& claim = Get(volume, "spec", "claimRef");
  if (claim.is_null()) return "";
  return GetString(claim, "namespace") + "/" + GetString(claim, "name");
}

// A claim gets its capacity and access modes from its volume.
Json ClaimCapacity(const Json& claim, Time /*now*/) {
  if (GetString(claim, "spec", "volumeName").empty()) return "";
  return OrElse(GetString(claim, "status", "capacity", "storage"), "0");
}

Json ClaimAccessModes(const Json& claim, Time /*now*/) {
  if (GetString(claim, "spec", "volumeName").empty()) return "";
  return AccessModes(Get(claim, "status", "accessModes"));
}

std::string FirstSeen(const Json& event, Time now) {
  const Json& time = Get(event, "firstTimestamp");
  return Ago(time.is_null() ? Get(event, "eventTime") : time, now);
}

Json LastSeen(const Json& event, Time now) {
  const Json& series = Get(event, "series");
  if (!series.is_null()) return Ago(Get(series, "lastObservedTime"), now);
  const Json& time = Get(event, "lastTimestamp");
  return time.is_null() ? FirstSeen(event, now) : Ago(time, now);
}

Json EventObject(const Json& event, Time /*now*/) {
  const std::string name = GetString(event, "involvedObject", "name");
  return boost::algorithm::to_lower_copy(
             GetString(event, "involvedObject", "kind")) +
         (name.empty() ? "" : "/" + name);
}

Json EventSource(const Json& event, Time /*now*/) {
  const std::string component = OrElse(GetString(event, "source", "component"),
                                       GetString(event, "reportingComponent"));
  const std::string instance = OrElse(GetString(event, "source", "host"),
                                      GetString(event, "reportingInstance"));
  return component + (instance.empty() ? "" : ", " + instance);
}

Json EventCount(const Json& event, Time /*now*/) {
  const Json& series = Get(event, "series");
  if (!series.is_null()) return GetInt(series, "count");
  return std::max<std::int64_t>(GetInt(event, "count"), 1);
}

Json EventMessage(const Json& event, Time /*now*/) {
  return boost::algorithm::trim_copy(GetString(event, "message"));
}

}  // namespace

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

Columns ServiceColumns() {
  return {NameColumn(),
          ValueColumn("Type", "spec.type"),
          {"Cluster-IP", ServiceClusterIp},
          {"External-IP", ServiceExternalIp},
          {"Port(s)", ServicePorts},
          AgeColumn(),
          Wide(LabelsColumn("Selector", "spec.selector"))};
}

Columns VolumeColumns() {
  return {NameColumn(),
          ValueColumn("Capacity", "spec.capacity.storage", "0"),
          {"Access Modes", VolumeAccessModes},
          ValueColumn("Reclaim Policy", "spec.persistentVolumeReclaimPolicy"),
          {"Status", VolumePhase},
          {"Claim", VolumeClaim},
          {"StorageClass", VolumeClass},
          ValueColumn("VolumeAttributesClass", "spec.volumeAttributesClassName",
                      "<unset>"),
          ValueColumn("Reason", "status.reason"),
          AgeColumn(),
          Wide(ValueColumn("VolumeMode", "spec.volumeMode", "<unset>"))};
}

Columns ClaimColumns() {
  return {NameColumn(),
          {"Status", VolumePhase},
          ValueColumn("Volume", "spec.volumeName"),
          {"Capacity", ClaimCapacity},
          {"Access Modes", ClaimAccessModes},
          {"StorageClass", VolumeClass},
          ValueColumn("VolumeAttributesClass", "spec.volumeAttributesClassName",
                      "<unset>"),
          AgeColumn(),
          Wide(ValueColumn("VolumeMode", "spec.volumeMode", "<unset>"))};
}

Columns EventColumns() {
  return {{"Last Seen", LastSeen},
          ValueColumn("Type", "type"),
          ValueColumn("Reason", "reason"),
          {"Object", EventObject},
          Wide(ValueColumn("Subobject", "involvedObject.fieldPath")),
          Wide({"Source", EventSource}),
          {"Message", EventMessage},
          Wide({"First Seen", FirstSeen}),
          Wide({"Count", EventCount}),
          Wide(NameColumn())};
}

}  // namespace minisched::apiserver
