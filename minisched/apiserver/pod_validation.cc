#include "minisched/apiserver/pod_validation.h"

#include <algorithm>
#include <limits>
#include <set>

#include "minisched/api/quantity.h"
#include "minisched/apiserver/names.h"

namespace minisched::apiserver {
namespace {

using Names = std::set<std::string>;

void CheckLabel(const Field& field, FieldErrors& errors) {
  AddInvalid(errors, field.path(), field.value(),
             CheckDns1123Label(field.text()));
}

void CheckSubdomain(const Field& field, FieldErrors& errors) {
  if (field.text().empty()) return;
  AddInvalid(errors, field.path(), field.value(),
             CheckDns1123Subdomain(field.text()));
}

bool IsHugePages(const std::string& resource) {
  return resource.starts_with("hugepages-");
}

// Of cpu and the like, a node may promise more than it has.
bool AllowsOvercommit(const std::string& resource) {
  const bool native = resource.find('/') == resource.npos ||
                      resource.find("kubernetes.io/") != resource.npos;
  return native && !IsHugePages(resource);
}

void ValidateResourceName(const std::string& name, const Field& field,
                          FieldErrors& errors) {
  static const auto& in_containers =
      *new Names{"cpu", "ephemeral-storage", "memory"};
  static const auto& elsewhere = *new Names{"pods", "storage"};
  AddInvalid(errors, field.path(), name, CheckLabelKey(name));
  if (name.find('/') != name.npos) {
    if (!AllowsOvercommit(name) && !IsExtendedResource(name)) {
      errors.Invalid(field.path(), name,
                     "doesn't follow extended resource name standard");
    }
  } else if (in_containers.count(name) == 0 && !IsHugePages(name)) {
    if (elsewhere.count(name) == 0 && CheckLabelKey(name).empty()) {
      errors.Invalid(field.path(), name,
                     "must be a standard resource type or fully qualified");
    }
    errors.Invalid(field.path(), name,
                   "must be a standard resource for containers");
  }
}

void ValidateRequest(const std::string& name, const Field& request,
                     const Field& resources, FieldErrors& errors) {
  const Field limit = resources["limits"][name];
  const bool overcommit = AllowsOvercommit(name);
  if (!limit.exists()) {
    if (!overcommit) {
      errors.Required(resources["limits"].path(),
                      "Limit must be set for non overcommitable resources");
    }
    return;
  }
  const Quantity asked = Quantity::Parse(request.text());
  const Quantity most = Quantity::Parse(limit.text());
  if (asked <= most && (overcommit || asked == most)) return;
  errors.Invalid(
      resources["requests"].path(), request.value(),
      (overcommit ? "must be less than or equal to " : "must be equal to ") +
          name + " limit of " + limit.text());
}

void ValidateResources(const Field& resources, FieldErrors& errors) {
  bool huge_pages = false;
  bool basic = false;
  for (const char* list : {"limits", "requests"}) {
    for (const auto& [name, quantity] : resources[list].entries()) {
      ValidateResourceName(name, quantity, errors);
      CheckQuantity(name, quantity, errors);
      huge_pages |= IsHugePages(name);
      basic |= name == "cpu" || name == "memory";
    }
  }
  for (const auto& [name, request] : resources["requests"].entries()) {
    ValidateRequest(name, request, resources, errors);
  }
  if (huge_pages && !basic) {
    errors.Forbidden(resources.path(), "HugePages require cpu or memory");
  }
}

std::vector<std::string> CheckPortName(const std::string& name) {
  constexpr char kLetters[] = "abcdefghijklmnopqrstuvwxyz";
  std::vector<std::string> messages;
  if (name.size() > 15) {
    messages.emplace_back("must be no more than 15 characters");
  }
  if (name.find_first_not_of(std::string(kLetters) + "0123456789-") !=
      name.npos) {
    messages.emplace_back(
        "must contain only alpha-numeric characters (a-z, 0-9), and hyphens "
        "(-)");
  }
  if (name.find_first_of(kLetters) == name.npos) {
    messages.emplace_back("must contain at least one letter (a-z)");
  }
  if (name.find("--") != name.npos) {
    messages.emplace_back("must not contain consecutive hyphens");
  }
  if (name.front() == '-' || name.back() == '-') {
    messages.emplace_back("must not begin or end with a hyphen");
  }
  return messages;
}

void ValidatePorts(const Field& ports, FieldErrors& errors) {
  Names names;
  for (const Field& port : ports.elements()) {
    const Field name = port["name"];
    if (name.exists()) {
      const auto messages = CheckPortName(name.text());
      AddInvalid(errors, name.path(), name.value(), messages);
      if (messages.empty() && !names.insert(name.text()).second) {
        errors.Duplicate(name.path(), name.value());
      }
    }
    if (port["containerPort"].number() == 0) {
      errors.Required(port["containerPort"].path());
    } else {
      CheckRange(port["containerPort"], 1, 65535, errors);
    }
    CheckRange(port["hostPort"], 1, 65535, errors);
    RequireOneOf(port["protocol"], {"SCTP", "TCP", "UDP"}, errors);
  }
}

void ValidateEnvironment(const Field& env, FieldErrors& errors) {
  for (const Field& variable : env.elements()) {
    const Field name = variable["name"];
    if (!Require(name, errors)) continue;
    const std::string text = name.text();
    const bool good = std::all_of(text.begin(), text.end(), [](char c) {
      return ' ' <= c && c <= '~' && c != '=';
    });
    if (good) continue;
    errors.Invalid(name.path(), text,
                   "a valid environment variable name must consist only of "
                   "printable ASCII characters other than '='");
  }
}

void ValidateMounts(const Field& mounts, const Names& volumes,
                    FieldErrors& errors) {
  Names paths;
  for (const Field& mount : mounts.elements()) {
    const Field name = mount["name"];
    const Field path = mount["mountPath"];
    Require(name, errors);
    if (volumes.count(name.text()) == 0) {
      errors.NotFound(name.path(), name.text());
    }
    Require(path, errors);
    if (!paths.insert(path.text()).second) {
      errors.Invalid(path.path(), path.text(), "must be unique");
    }
  }
}

void ValidateContainer(const Field& container, const Names& volumes,
                       Names& names, FieldErrors& errors) {
  const Field name = container["name"];
  if (Require(name, errors)) CheckLabel(name, errors);
  Require(container["image"], errors);
  RequireOneOf(container["terminationMessagePolicy"],
               {"File", "FallbackToLogsOnError"}, errors);
  ValidatePorts(container["ports"], errors);
  ValidateEnvironment(container["env"], errors);
  ValidateMounts(container["volumeMounts"], volumes, errors);
  RequireOneOf(container["imagePullPolicy"],
               {"Always", "IfNotPresent", "Never"}, errors);
  CheckOneOf(container["restartPolicy"], {"Always", "Never", "OnFailure"},
             errors);
  ValidateResources(container["resources"], errors);
  if (!names.insert(name.text()).second) {
    errors.Duplicate(name.path(), name.text());
  }
}

// No two containers that run at the same time may take the same port.
void ValidateHostPorts(const Field& container, Names& taken,
                       FieldErrors& errors) {
  for (const Field& port : container["ports"].elements()) {
    const Field host_port = port["hostPort"];
    if (host_port.number() == 0) continue;
    const std::string key = port["protocol"].text() + "/" +
                            port["hostIP"].text() + "/" +
                            std::to_string(host_port.number());
    if (!taken.insert(key).second) errors.Duplicate(host_port.path(), key);
  }
}

void ValidateContainers(const Field& spec, const Names& volumes,
                        FieldErrors& errors) {
  Names names;
  Names host_ports;
  Require(spec["containers"], errors);
  for (const Field& container : spec["containers"].elements()) {
    ValidateContainer(container, volumes, names, errors);
    ValidateHostPorts(container, host_ports, errors);
  }
  for (const Field& container : spec["initContainers"].elements()) {
    ValidateContainer(container, volumes, names, errors);
    Names own_host_ports;
    ValidateHostPorts(container, own_host_ports, errors);
  }
}

// Returns the names of those volumes that are as they should be.
Names ValidateVolumes(const Field& volumes, FieldErrors& errors) {
  constexpr std::pair<const char*, const char*> kRequired[] = {
      {"configMap", "name"},
      {"csi", "driver"},
      {"hostPath", "path"},
      {"persistentVolumeClaim", "claimName"},
      {"secret", "secretName"}};
  Names names;
  for (const Field& volume : volumes.elements()) {
    bool good = true;
    bool first = true;
    for (const auto& [type, source] : volume.value().items()) {
      if (type == "name" || std::exchange(first, false)) continue;
      good = false;
      errors.Forbidden(volume[type].path(),
                       "may not specify more than 1 volume type");
    }
    for (const auto& [type, key] : kRequired) {
      if (volume[type].exists()) good &= Require(volume[type][key], errors);
    }
    const Field name = volume["name"];
    if (Require(name, errors)) CheckLabel(name, errors);
    if (names.count(name.text()) > 0) {
      errors.Duplicate(name.path(), name.text());
    }
    if (good && CheckDns1123Label(name.text()).empty()) {
      names.insert(name.text());
    }
  }
  return names;
}

void ValidateHostNetwork(const Field& spec, bool is_template,
                         FieldErrors& errors) {
  if (!GetBool(spec.value(), "hostNetwork")) return;
  for (const Field& container : spec["containers"].elements()) {
    for (const Field& port : container["ports"].elements()) {
      const std::int64_t on_host = port["hostPort"].number();
      if (on_host == port["containerPort"].number()) continue;
      if (is_template && on_host == 0) continue;  // the pod will have it
      errors.Invalid(port["hostPort"].path(), on_host,
                     "must match `containerPort` when `hostNetwork` is true");
    }
  }
}

}  // namespace

void ValidatePodSpec(const Field& spec, bool is_template, FieldErrors& errors) {
  const Names volumes = ValidateVolumes(spec["volumes"], errors);
  ValidateContainers(spec, volumes, errors);
  ValidateHostNetwork(spec, is_template, errors);
  RequireOneOf(spec["restartPolicy"], {"Always", "OnFailure", "Never"}, errors);
  RequireOneOf(spec["dnsPolicy"],
               {"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"},
               errors);
  ValidateScheduling(spec, errors);
  CheckSubdomain(spec["serviceAccountName"], errors);
  CheckSubdomain(spec["nodeName"], errors);
  CheckRange(spec["activeDeadlineSeconds"], 1,
             std::numeric_limits<std::int32_t>::max(), errors);
  CheckSubdomain(spec["priorityClassName"], errors);
  CheckSubdomain(spec["runtimeClassName"], errors);
  if (spec["hostname"].exists()) CheckLabel(spec["hostname"], errors);
  for (const Field& gate : spec["readinessGates"].elements()) {
    const Field type = gate["conditionType"];
    AddInvalid(errors, type.path(), type.value(), CheckLabelKey(type.text()));
  }
  if (const Json& name = Get(spec["os"].value(), "name"); !name.is_null()) {
    CheckOneOf({name, spec["os"].path()}, {"linux", "windows"}, errors);
  }
  CheckOneOf(spec["preemptionPolicy"], {"PreemptLowerPriority", "Never"},
             errors);
}

}  // namespace minisched::apiserver
