#include <algorithm>
#include <string>

#include "lab/apiserver/controllers/controllers.h"
#include "lab/apiserver/controllers/volume_binding.h"
#include "lab/apiserver/kinds/pods.h"

namespace minisched::apiserver {
namespace {

// True if a volume of the pod has this claim. Ephemeral volumes count only if
// `with_ephemeral`, and if the claim was made for the pod.
bool HasClaim(const Json& pod, const Json& claim, bool with_ephemeral) {
  return std::ranges::any_of(
      Get(pod, "spec", "volumes"), [&](const Json& volume) {
        return ClaimName(pod, volume) == NameOf(claim) &&
               (!volume.contains("ephemeral") ||
                (with_ephemeral && IsOwnedBy(claim, pod)));
      });
}

// True if the pod keeps a terminating claim: a kubelet may be using the claim.
bool Holds(const Json& pod, const Json& claim) {
  const bool shut_down =
      IsTerminating(pod) &&
      GetInt(pod, "metadata", "deletionGracePeriodSeconds") == 0;
  return !GetString(pod, "spec", "nodeName").empty() &&
         HasClaim(pod, claim, /*with_ephemeral=*/!shut_down);
}

class VolumeProtection : public Controller {
 public:
  explicit VolumeProtection(Registry& registry)
      : Controller(registry), pods_(store_, "pods", ClaimPathsOf) {
    const auto enqueue = [this](const Event& event) {
      if (event.type != Event::Type::kDeleted) Enqueue(*event.object);
    };
    Watch("persistentvolumes", enqueue);
    Watch("persistentvolumeclaims", enqueue);
    Watch("pods", [this](const Event& event) {
      const Json& pod = *event.object;
      for (const Json& volume : Get(pod, "spec", "volumes")) {
        const std::string name = ClaimName(pod, volume);
        if (name.empty()) continue;
        Enqueue({&claims_, NamespaceOf(pod), name});
      }
    });
  }

 private:
  void Sync(const ObjectKey& key) override {
    const Object object = Find(key);
    if (!object) return;
    const bool bound = Get(*object, "status", "phase") == "Bound";
    if (key.row == &claims_) {
      if (IsTerminating(*object)) {
        if (!IsHeld(*object)) Free(key, "kubernetes.io/pvc-protection");
      } else if (bound) {
        SetUnused(key, *object);
      }
    } else if (IsTerminating(*object) && !bound) {
      Free(key, "kubernetes.io/pv-protection");
    }
  }

  bool IsHeld(const Json& claim) {
    return std::ranges::any_of(pods_[PathOf(claim)], [&](const Object& pod) {
      return Holds(*pod, claim);
    });
  }

  void Free(const ObjectKey& key, const char* finalizer) {
    Edit(key, "", [&](Json& edited) {
      RemoveValue(edited["metadata"]["finalizers"], finalizer);
    });
  }

  // Sets the condition Unused of a bound claim.
  void SetUnused(const ObjectKey& key, const Json& claim) {
    const bool used =
        std::ranges::any_of(pods_[PathOf(claim)], [&](const Object& pod) {
          return !HasEnded(*pod) && HasClaim(*pod, claim, true);
        });
    Edit(key, "status", [&](Json& edited) {
      SetCondition(
          edited["status"]["conditions"],
          {{"type", "Unused"},
           {"status", used ? "False" : "True"},
           {"reason", used ? "PodUsingPVC" : "NoPodsUsingPVC"},
           {"message", used ? "A pod is currently referencing this PVC"
                            : "No pods are currently referencing this PVC"}},
          registry_.Now());
    });
  }

  const ResourceRow& claims_ = GetResource("", "persistentvolumeclaims");
  const Index pods_;  // by the paths of their claims
};

}  // namespace

std::unique_ptr<Controller> NewVolumeProtection(Registry& registry) {
  return std::make_unique<VolumeProtection>(registry);
}

}  // namespace minisched::apiserver
