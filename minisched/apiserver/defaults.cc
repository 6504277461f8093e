#include "minisched/apiserver/defaults.h"

#include <algorithm>
#include <string>

namespace minisched::apiserver {
namespace {

void ApplyDefault(Json& object, std::string_view path, const Json& value) {
  const std::size_t dot = path.find('.');
  std::string_view keys = path.substr(0, dot);
  const std::string_view rest =
      dot == path.npos ? std::string_view() : path.substr(dot + 1);
  const bool each = keys.ends_with("[]");
  if (each) keys.remove_suffix(2);
  while (!keys.empty()) {
    const std::string_view key = keys.substr(0, keys.find('|'));
    keys.remove_prefix(std::min(key.size() + 1, keys.size()));
    const auto member = object.find(key);
    if (rest.empty()) {
      if (Get(object, key).is_null()) object[std::string(key)] = value;
    } else if (member != object.end() && each) {
      for (Json& element : *member) ApplyDefault(element, rest, value);
    } else if (member != object.end()) {
      ApplyDefault(*member, rest, value);
    }
  }
}

// Always for "web" and "web:latest", as those change.
std::string PullPolicyOf(std::string_view image) {
  if (image.empty()) return "IfNotPresent";
  const std::size_t digest = image.find('@');
  const std::string_view name = image.substr(0, digest);
  const std::size_t colon = name.find(':', name.rfind('/') + 1);
  const bool latest = colon == name.npos ? digest == image.npos
                                         : name.substr(colon + 1) == "latest";
  return latest ? "Always" : "IfNotPresent";
}

// Calls `function` with each element of the list `key`, if there is one.
template <typename Function>
void ForEach(Json& object, std::string_view key, const Function& function) {
  const auto list = object.find(key);
  if (list == object.end()) return;
  for (Json& element : *list) function(element);
}

void SetContainerDefaults(Json& container) {
  static const auto& defaults = *new Defaults{
      {"terminationMessagePath", "/dev/termination-log"},
      {"terminationMessagePolicy", "File"},
      {"ports[].protocol", "TCP"},
      {"env[].valueFrom.fieldRef.apiVersion", "v1"},
      {"env[].valueFrom.fileKeyRef.optional", false},
      {"livenessProbe|readinessProbe|startupProbe.timeoutSeconds", 1},
      {"livenessProbe|readinessProbe|startupProbe.periodSeconds", 10},
      {"livenessProbe|readinessProbe|startupProbe.successThreshold", 1},
      {"livenessProbe|readinessProbe|startupProbe.failureThreshold", 3},
      {"livenessProbe|readinessProbe|startupProbe.httpGet.path", "/"},
      {"livenessProbe|readinessProbe|startupProbe.httpGet.scheme", "HTTP"},
      {"livenessProbe|readinessProbe|startupProbe.grpc.service", ""},
      {"lifecycle.postStart|preStop.httpGet.path", "/"},
      {"lifecycle.postStart|preStop.httpGet.scheme", "HTTP"},
  };
  ApplyDefaults(container, defaults);
  ApplyDefault(container, "imagePullPolicy",
               PullPolicyOf(GetString(container, "image")));
}

void SetVolumeDefaults(Json& volume) {
  static const auto& defaults = *new Defaults{
      {"configMap|downwardAPI|projected|secret.defaultMode", 0644},
      {"downwardAPI.items[].fieldRef.apiVersion", "v1"},
      {"ephemeral.volumeClaimTemplate.spec.volumeMode", "Filesystem"},
      {"hostPath.type", ""},
      {"projected.sources[].downwardAPI.items[].fieldRef.apiVersion", "v1"},
      {"projected.sources[].serviceAccountToken.expirationSeconds", 3600},
  };
  if (volume.size() <= 1) volume["emptyDir"] = Json::object();  // but a name
  ApplyDefaults(volume, defaults);
  ApplyDefault(volume, "image.pullPolicy",
               PullPolicyOf(GetString(volume, "image", "reference")));
}

// Who limits what a container may use, but doesn't say what it needs, needs as
// much. On the host's network, a port is the host's.
void SetContainerOfPodDefaults(Json& container, bool host_network) {
  for (const auto& [name, limit] :
       Get(container, "resources", "limits").items()) {
    Json& requests = container["resources"]["requests"];
    if (!requests.contains(name)) requests[name] = limit;
  }
  if (!host_network) return;
  ForEach(container, "ports", [](Json& port) {
    if (port.contains("containerPort")) {
      ApplyDefault(port, "hostPort", port["containerPort"]);
    }
  });
}

}  // namespace

void ApplyDefaults(Json& object, const Defaults& defaults) {
  for (const auto& [path, value] : defaults) ApplyDefault(object, path, value);
}

void SetPodSpecDefaults(Json& spec) {
  static const auto& defaults = *new Defaults{
      {"restartPolicy", "Always"},
      {"dnsPolicy", "ClusterFirst"},
      {"schedulerName", "default-scheduler"},
      {"securityContext", Json::object()},
      {"terminationGracePeriodSeconds", 30},
  };
  ApplyDefaults(spec, defaults);
  ForEach(spec, "volumes", SetVolumeDefaults);
  for (const auto* list :
       {"containers", "initContainers", "ephemeralContainers"}) {
    ForEach(spec, list, SetContainerDefaults);
  }
  // Two names of the same thing, the second one deprecated.
  if (spec.contains("serviceAccountName")) {
    spec["serviceAccount"] = spec["serviceAccountName"];
  } else if (spec.contains("serviceAccount")) {
    spec["serviceAccountName"] = spec["serviceAccount"];
  }
}

void SetPodDefaults(Json& pod) {
  Json& spec = pod["spec"];
  SetPodSpecDefaults(spec);
  ApplyDefault(spec, "enableServiceLinks", true);
  if (GetInt(spec, "terminationGracePeriodSeconds") < 0) {
    spec["terminationGracePeriodSeconds"] = 1;
  }
  const bool host_network = GetBool(spec, "hostNetwork");
  for (const auto* list : {"containers", "initContainers"}) {
    ForEach(spec, list, [&](Json& container) {
      SetContainerOfPodDefaults(container, host_network);
    });
  }
}

}  // namespace minisched::apiserver
