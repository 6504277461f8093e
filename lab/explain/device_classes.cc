#include "lab/explain/device_classes.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "lab/apiserver/object.h"
#include "lab/explain/errors.h"
#include "minisched/api/pod_requests.h"
#include "minisched/api/resource.h"

namespace minisched::explain {
namespace {

using apiserver::Get;
using apiserver::GetString;
using apiserver::Json;
using apiserver::NameOf;

// Every class serves the resource with this prefix and its name.
constexpr char kPrefix[] = "deviceclass.resource.kubernetes.io/";

}  // namespace

void CheckDeviceClasses(Trial& trial, const Outcome& outcome) {
  const Json& points = Get(outcome.attempt, "points");
  if (std::ranges::none_of(points, [](const Json& point) {
        return GetString(point, "plugin") == "Unsupported";
      })) {
    return;
  }
  const Resource requests(PodRequests(trial.pod()));
  const auto check = [&](const std::string& name, const std::string& resource) {
    if (requests.Scalar(resource) == 0) return;
    throw CannotTell(fmt::format(
        "can't tell: the DeviceClass {} serves {}, and {} does not support "
        "resource claims for it; pass kube-scheduler as --scheduler",
        name, resource, outcome.program));
  };
  trial.copy().server().ForEach(
      "deviceclasses.resource.k8s.io", [&](const Json& device_class) {
        const std::string name = NameOf(device_class);
        check(name, GetString(device_class, "spec", "extendedResourceName"));
        check(name, kPrefix + name);
      });
}

}  // namespace minisched::explain
