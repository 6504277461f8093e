#include "lab/explain/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "lab/apiserver/object.h"

namespace minisched::explain {
namespace {

using apiserver::Get;
using apiserver::GetString;
using apiserver::Json;

class ClaimChecker {
 public:
  ClaimChecker(Trial& trial, const std::stop_token& stop)
      : trial_(trial), stop_(stop) {}

  std::optional<ClaimProblem> Check() {
    const Pod& pod = trial_.pod();
    for (const Volume& volume : pod.spec.volumes) {
      const std::string problem = CheckVolume(volume);
      if (!problem.empty()) return ClaimProblem{problem, problem};
    }
    if (unbound_.empty()) return std::nullopt;
    constexpr char kReason[] =
        "pod has unbound immediate PersistentVolumeClaims";
    return ClaimProblem{kReason, fmt::format("{}: {}", kReason, unbound_)};
  }

 private:
  std::string CheckVolume(const Volume& volume) {
    const ObjectMeta& pod = trial_.pod().metadata;
    const bool is_ephemeral = volume.ephemeral.has_value();
    if (!is_ephemeral && !volume.persistent_volume_claim) return "";
    const std::string name = is_ephemeral
                                 ? pod.name + "-" + volume.name
                                 : volume.persistent_volume_claim->claim_name;
    const Json claim =
        Read(fmt::format("/api/v1/namespaces/{}/persistentvolumeclaims/{}",
                         pod.namespace_name, name));
    const std::string quoted =
        fmt::format("persistentvolumeclaim \"{}\"", name);
    if (claim.is_null()) {
      if (!is_ephemeral) return quoted + " not found";
      return is_new_
                 ? ""
                 : "waiting for ephemeral volume controller to create the " +
                       quoted;
    }
    if (GetString(claim, "status", "phase") == "Lost") {
      return fmt::format(R"({} bound to non-existent persistentvolume "{}")",
                         quoted, GetString(claim, "spec", "volumeName"));
    }
    if (apiserver::IsTerminating(claim)) return quoted + " is being deleted";
    if (unbound_.empty()) unbound_ = UnboundProblem(name, claim);
    return "";
  }

  // Returns what is wrong if the claim is unbound, and does not wait for the
  // pod's node.
  std::string UnboundProblem(const std::string& name, const Json& claim) {
    if (!GetString(claim, "spec", "volumeName").empty()) return "";
    const std::string class_name = GetString(claim, "spec", "storageClassName");
    const Json storage_class =
        class_name.empty()
            ? Json()
            : Read("/apis/storage.k8s.io/v1/storageclasses/" + class_name);
    const bool is_missing = !class_name.empty() && storage_class.is_null();
    if (GetString(storage_class, "volumeBindingMode") ==
        "WaitForFirstConsumer") {
      return "";
    }
    // The controllers may have had no time to bind a claim of a new pod, and
    // they need no StorageClass for volumes that exist.
    const bool may_be_bound = is_missing ? HasVolume(class_name) : is_new_;
    if (is_new_ && may_be_bound) return "";
    return name + (is_missing ? " has the StorageClass " + class_name +
                                    ", which does not exist"
                              : " has no volume yet");
  }

  // Returns true if there is a volume of the class.
  bool HasVolume(const std::string& class_name) {
    const Json volumes = Read("/api/v1/persistentvolumes");
    const Json& items = Get(volumes, "items");
    return std::any_of(items.begin(), items.end(), [&](const Json& volume) {
      return GetString(volume, "spec", "storageClassName") == class_name;
    });
  }

  // Returns an object or a list, or null if it does not exist.
  Json Read(const std::string& path) {
    try {
      return Json::parse(
          trial_.client().Send({.method = "GET", .path = path}, stop_));
    } catch (const ApiError& error) {
      if (error.code() != 404) throw;
      return nullptr;
    }
  }

  Trial& trial_;
  const std::stop_token& stop_;
  // True if controllers have had no time to act on the pod.
  const bool is_new_ = trial_.is_new();
  std::string unbound_;
};

}  // namespace

std::optional<ClaimProblem> FindClaimProblem(Trial& trial,
                                             const std::stop_token& stop) {
  return ClaimChecker(trial, stop).Check();
}

}  // namespace minisched::explain
