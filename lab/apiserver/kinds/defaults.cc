#include "lab/apiserver/kinds/defaults.h"

#include <string_view>

#include "lab/apiserver/kinds/volumes.h"

namespace minisched::apiserver {
namespace {

// Returns the list `key` of the object, or an empty list if there is none.
Json& List(Json& object, std::string_view key) {
  static auto& none = *new Json(Json::array());
  const auto list = object.find(key);
  return list == object.end() ? none : *list;
}

// Returns the default pull policy of an image: "Always" for images such as
// "web" and "web:latest", which may change, and "IfNotPresent" for all others.
const char* PullPolicyOf(std::string_view image) {
  if (image.empty()) return "IfNotPresent";
  const std::size_t digest = image.find('@');
  const std::string_view name = image.substr(0, digest);
  const std::size_t colon = name.find(':', name.rfind('/') + 1);
  const bool latest = colon == name.npos ? digest == image.npos
                                         : name.substr(colon + 1) == "latest";
  return latest ? "Always" : "IfNotPresent";
}

void SetContainerDefaults(Json& container) {
  SetDefault(container, "terminationMessagePath", "/dev/termination-log");
  SetDefault(container, "terminationMessagePolicy", "File");
  SetDefault(container, "imagePullPolicy",
             PullPolicyOf(GetString(container, "image")));
  for (Json& port : List(container, "ports")) {
    SetDefault(port, "protocol", "TCP");
  }
}

// Sets the defaults of a pod's container that containers in pod templates do
// not get. A request defaults to the limit. On the host's network, a host port
// defaults to the container's port.
void SetContainerOfPodDefaults(Json& container, bool host_network) {
  const Json limits = Get(container, "resources", "limits");
  for (const auto& [name, limit] : limits.items()) {
    SetDefault(container["resources"]["requests"], name, limit);
  }
  if (!host_network) return;
  for (Json& port : List(container, "ports")) {
    SetDefault(port, "hostPort", Get(port, "containerPort"));
  }
}

}  // namespace

void SetDefault(Json& object, const std::string& key, const Json& value) {
  if (Get(object, key).is_null() && !value.is_null()) object[key] = value;
}

void SetPodSpecDefaults(Json& spec) {
  SetDefault(spec, "restartPolicy", "Always");
  SetDefault(spec, "dnsPolicy", "ClusterFirst");
  SetDefault(spec, "schedulerName", "default-scheduler");
  SetDefault(spec, "securityContext", Json::object());
  SetDefault(spec, "terminationGracePeriodSeconds", 30);
  for (const char* list : {"containers", "initContainers"}) {
    for (Json& container : List(spec, list)) SetContainerDefaults(container);
  }
  for (Json& volume : List(spec, "volumes")) {
    const bool has_source = volume.size() > 1;  // besides the name
    if (!has_source) volume["emptyDir"] = Json::object();
    SetVolumeSourceDefaults(volume);
  }
}

void SetPodDefaults(Json& pod) {
  Json& spec = pod["spec"];
  SetPodSpecDefaults(spec);
  SetDefault(spec, "enableServiceLinks", true);
  Json& grace_period = spec["terminationGracePeriodSeconds"];
  if (grace_period < 0) grace_period = 1;
  const bool host_network = GetBool(spec, "hostNetwork");
  for (const char* list : {"containers", "initContainers"}) {
    for (Json& container : List(spec, list)) {
      SetContainerOfPodDefaults(container, host_network);
    }
  }
}

}  // namespace minisched::apiserver
