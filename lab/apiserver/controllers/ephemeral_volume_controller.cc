#include <fmt/format.h>

#include <stdexcept>

#include "lab/apiserver/controllers/controllers.h"
#include "lab/apiserver/controllers/volume_binding.h"

namespace minisched::apiserver {
namespace {

class EphemeralVolumeController : public Controller {
 public:
  explicit EphemeralVolumeController(Registry& registry)
      : Controller(registry, "ephemeral_volume"),
        pods_(store_, "pods", ClaimPathsOf) {
    Watch("pods", [this](const Event& event) {
      if (event.type == Event::Type::kAdded) Enqueue(*event.object);
    });
    Watch("persistentvolumeclaims", [this](const Event& event) {
      if (event.type != Event::Type::kDeleted) return;
      for (const Object& pod : pods_[PathOf(*event.object)]) Enqueue(*pod);
    });
  }

 private:
  void Sync(const ObjectKey& key) override {
    const Object pod = Find(key);
    if (!pod || IsTerminating(*pod)) return;
    for (const Json& volume : Get(*pod, "spec", "volumes")) {
      if (!volume.contains("ephemeral")) continue;
      try {
        CreateClaim(*pod, volume);
      } catch (const std::exception& error) {
        Record(*pod, "Warning", "FailedBinding",
               fmt::format("ephemeral volume {}: {}", GetString(volume, "name"),
                           error.what()));
        throw;
      }
    }
  }

  void CreateClaim(const Json& pod, const Json& volume) {
    const ObjectKey key = {&GetResource("", "persistentvolumeclaims"),
                           NamespaceOf(pod), ClaimName(pod, volume)};
    if (const Object claim = Find(key)) {
      if (IsOwnedBy(*claim, pod)) return;
      throw std::runtime_error(
          fmt::format("PVC {} was not created for pod {} (pod is not owner)",
                      PathOf(*claim), PathOf(pod)));
    }
    const Json& claim_template =
        Get(volume, "ephemeral", "volumeClaimTemplate");
    Json owner = ReferenceTo(pod);
    owner.update({{"controller", true}, {"blockOwnerDeletion", true}});
    const Json& metadata = Get(claim_template, "metadata");
    registry_.Create(*key.row, key.ns,
                     {{"metadata",
                       {{"name", key.name},
                        {"annotations", Get(metadata, "annotations")},
                        {"labels", Get(metadata, "labels")},
                        {"ownerReferences", {owner}}}},
                      {"spec", Get(claim_template, "spec")}});
  }

  const Index pods_;  // by the paths of their claims
};

}  // namespace

std::unique_ptr<Controller> NewEphemeralVolumeController(Registry& registry) {
  return std::make_unique<EphemeralVolumeController>(registry);
}

}  // namespace minisched::apiserver
