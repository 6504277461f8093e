#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/join.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lab/apiserver/kinds/cells.h"
#include "lab/apiserver/selectors.h"

namespace minisched::apiserver {
namespace {

// Returns the first three texts and the number of the others:
// "a,b,c + 2 more...".
std::string FirstThree(std::vector<std::string> texts, const char* none) {
  constexpr std::size_t kMax = 3;
  if (texts.empty()) return none;
  const std::size_t total = texts.size();
  texts.resize(std::min(total, kMax));
  const std::string first = boost::algorithm::join(texts, ",");
  return total > kMax ? fmt::format("{} + {} more...", first, total - kMax)
                      : first;
}

// Returns a cell with the number of elements of the list or map at a path.
Column::Cell SizeOf(const char* path) {
  return [path = Json::json_pointer(path)](const Json& object, Time) {
    return object.contains(path) ? object.at(path).size() : 0;
  };
}

// ---- Cells of workloads.

// Returns a map of labels as text: "a=b,c=d".
Json NodeSelector(const Json& daemon_set, Time /*now*/) {
  std::vector<std::string> labels;
  const Json& pod = Get(daemon_set, "spec", "template", "spec");
  for (const auto& [key, value] : Get(pod, "nodeSelector").items()) {
    labels.push_back(key + "=" + GetString(value));
  }
  return labels.empty() ? "<none>" : boost::algorithm::join(labels, ",");
}

Json JobStatus(const Json& job, Time /*now*/) {
  const auto is_true = [&](const char* type) {
    const Json& conditions = Get(job, "status", "conditions");
    return GetString(FindBy(conditions, "type", type), "status") == "True";
  };
  for (const char* type : {"Complete", "Failed"}) {
    if (is_true(type)) return type;
  }
  if (IsTerminating(job)) return "Terminating";
  for (const char* type :
       {"Suspended", "FailureTarget", "SuccessCriteriaMet"}) {
    if (is_true(type)) return type;
  }
  return "Running";
}

Json JobCompletions(const Json& job, Time /*now*/) {
  const std::int64_t succeeded = GetInt(job, "status", "succeeded");
  const Json& completions = Get(job, "spec", "completions");
  if (!completions.is_null()) {
    return fmt::format("{}/{}", succeeded, GetInt(job, "spec", "completions"));
  }
  const std::int64_t parallelism = GetInt(job, "spec", "parallelism");
  return fmt::format("{}/1", succeeded) +
         (parallelism > 1 ? fmt::format(" of {}", parallelism) : "");
}

Json JobDuration(const Json& job, Time now) {
  const std::string start = GetString(job, "status", "startTime");
  const std::string end = GetString(job, "status", "completionTime");
  if (start.empty()) return "";
  return HumanDuration((end.empty() ? now : ParseTime(end)) - ParseTime(start));
}

Json IsSuspended(const Json& cron_job, Time /*now*/) {
  return GetBool(cron_job, "spec", "suspend") ? "True" : "False";
}

// ---- Cells of network objects.

Json ServiceExternalIp(const Json& service, Time /*now*/) {
  const Json& spec = Get(service, "spec");
  const std::string type = GetString(spec, "type");
  if (type == "ExternalName") return Get(spec, "externalName");
  std::vector<std::string> addresses;
  for (const Json& point : Get(service, "status", "loadBalancer", "ingress")) {
    const std::string ip = GetString(point, "ip");
    addresses.push_back(ip.empty() ? GetString(point, "hostname") : ip);
  }
  for (const Json& ip : Get(spec, "externalIPs")) {
    addresses.push_back(GetString(ip));
  }
  if (!addresses.empty()) return boost::algorithm::join(addresses, ",");
  return type == "LoadBalancer" ? "<pending>" : "<none>";
}

Json ServicePorts(const Json& service, Time /*now*/) {
  std::vector<std::string> ports;
  for (const Json& port : Get(service, "spec", "ports")) {
    const std::int64_t node_port = GetInt(port, "nodePort");
    ports.push_back(
        fmt::format("{}{}/{}", GetInt(port, "port"),
                    node_port == 0 ? "" : fmt::format(":{}", node_port),
                    GetString(port, "protocol")));
  }
  return ports.empty() ? "<none>" : boost::algorithm::join(ports, ",");
}

// Returns the addresses of all subsets, with each port of the subset.
Json EndpointAddresses(const Json& endpoints, Time /*now*/) {
  std::vector<std::string> all;
  for (const Json& subset : Get(endpoints, "subsets")) {
    const auto add = [&](const std::string& port) {
      for (const Json& address : Get(subset, "addresses")) {
        const std::string ip = GetString(address, "ip");
        const bool v6 = ip.find(':') != ip.npos && !port.empty();
        all.push_back((v6 ? "[" + ip + "]" : ip) + port);
      }
    };
    const Json& ports = Get(subset, "ports");
    if (ports.empty()) add("");
    for (const Json& port : ports) {
      add(fmt::format(":{}", GetInt(port, "port")));
    }
  }
  return FirstThree(std::move(all), "<none>");
}

Json SlicePorts(const Json& slice, Time /*now*/) {
  std::vector<std::string> ports;
  for (const Json& port : Get(slice, "ports")) {
    const std::string name = GetString(port, "name");
    ports.push_back(port.contains("port") ? std::to_string(GetInt(port, "port"))
                    : name.empty()        ? "*"
                                          : name);
  }
  return FirstThree(std::move(ports), "<unset>");
}

Json SliceEndpoints(const Json& slice, Time /*now*/) {
  std::vector<std::string> addresses;
  for (const Json& endpoint : Get(slice, "endpoints")) {
    for (const Json& address : Get(endpoint, "addresses")) {
      addresses.push_back(GetString(address));
    }
  }
  return FirstThree(std::move(addresses), "<unset>");
}

Json IngressHosts(const Json& ingress, Time /*now*/) {
  std::vector<std::string> hosts;
  for (const Json& rule : Get(ingress, "spec", "rules")) {
    const std::string host = GetString(rule, "host");
    if (!host.empty()) hosts.push_back(host);
  }
  return FirstThree(std::move(hosts), "*");
}

Json IngressAddress(const Json& ingress, Time /*now*/) {
  std::set<std::string> addresses;
  for (const Json& point : Get(ingress, "status", "loadBalancer", "ingress")) {
    const std::string ip = GetString(point, "ip");
    addresses.insert(ip.empty() ? GetString(point, "hostname") : ip);
  }
  return boost::algorithm::join(addresses, ",");
}

Json IngressPorts(const Json& ingress, Time /*now*/) {
  return Get(ingress, "spec", "tls").empty() ? "80" : "80, 443";
}

Json IngressClassName(const Json& ingress_class, Time /*now*/) {
  const bool is_default =
      GetString(ingress_class, "metadata", "annotations",
                "ingressclass.kubernetes.io/is-default-class") == "true";
  return NameOf(ingress_class) + (is_default ? " (default)" : "");
}

Json IngressClassParameters(const Json& ingress_class, Time /*now*/) {
  const Json& parameters = Get(ingress_class, "spec", "parameters");
  if (parameters.is_null()) return "<none>";
  const std::string group = GetString(parameters, "apiGroup");
  return GetString(parameters, "kind") + (group.empty() ? "" : "." + group) +
         "/" + GetString(parameters, "name");
}

Json PolicyPods(const Json& policy, Time /*now*/) {
  const std::string text = SelectorText(Get(policy, "spec", "podSelector"));
  return text.empty() ? "<none>" : text;
}

// ---- Cells of RBAC.

Json BoundRole(const Json& binding, Time /*now*/) {
  return GetString(binding, "roleRef", "kind") + "/" +
         GetString(binding, "roleRef", "name");
}

}  // namespace

void AddStoredColumns(std::map<std::string, Columns, std::less<>>& all) {
  const Column name = {"Name", Value("/metadata/name")};
  const Column age = {"Age", Since("/metadata/creationTimestamp")};
  const Columns roles = {
      name, {"Created At", Value("/metadata/creationTimestamp"), "date"}};
  const Columns bindings = {name, {"Role", BoundRole}, age};
  all.merge(std::map<std::string, Columns, std::less<>>{
      {"endpoints", {name, {"Endpoints", EndpointAddresses}, age}},
      {"secrets",
       {name, {"Type", Value("/type")}, {"Data", SizeOf("/data")}, age}},
      {"services",
       {name,
        {"Type", Value("/spec/type")},
        {"Cluster-IP", Value("/spec/clusterIP", "<none>")},
        {"External-IP", ServiceExternalIp},
        {"Port(s)", ServicePorts},
        age}},
      {"daemonsets.apps",
       {name,
        Integer("Desired", "/status/desiredNumberScheduled"),
        Integer("Current", "/status/currentNumberScheduled"),
        Integer("Ready", "/status/numberReady"),
        Integer("Up-to-date", "/status/updatedNumberScheduled"),
        Integer("Available", "/status/numberAvailable"),
        {"Node Selector", NodeSelector},
        age}},
      {"statefulsets.apps", {name, {"Ready", ReadyReplicas}, age}},
      {"cronjobs.batch",
       {name,
        {"Schedule", Value("/spec/schedule")},
        {"Timezone", Value("/spec/timeZone", "<none>")},
        {"Suspend", IsSuspended, "boolean"},
        {"Active", SizeOf("/status/active"), "integer"},
        {"Last Schedule", Since("/status/lastScheduleTime", "<none>")},
        age}},
      {"jobs.batch",
       {name,
        {"Status", JobStatus},
        {"Completions", JobCompletions},
        {"Duration", JobDuration},
        age}},
      {"endpointslices.discovery.k8s.io",
       {name,
        {"AddressType", Value("/addressType")},
        {"Ports", SlicePorts},
        {"Endpoints", SliceEndpoints},
        age}},
      {"ingressclasses.networking.k8s.io",
       {{"Name", IngressClassName},
        {"Controller", Value("/spec/controller")},
        {"Parameters", IngressClassParameters},
        age}},
      {"ingresses.networking.k8s.io",
       {name,
        {"Class", Value("/spec/ingressClassName", "<none>")},
        {"Hosts", IngressHosts},
        {"Address", IngressAddress},
        {"Ports", IngressPorts},
        age}},
      {"networkpolicies.networking.k8s.io",
       {name, {"Pod-Selector", PolicyPods}, age}},
      {"clusterrolebindings.rbac.authorization.k8s.io", bindings},
      {"clusterroles.rbac.authorization.k8s.io", roles},
      {"rolebindings.rbac.authorization.k8s.io", bindings},
      {"roles.rbac.authorization.k8s.io", roles},
  });
}

}  // namespace minisched::apiserver
