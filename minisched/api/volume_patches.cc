#include "minisched/api/volume_patches.h"

#include "minisched/api/codec.h"

namespace minisched {

std::string ClaimRefPatch(const PersistentVolume& volume) {
  constexpr char kBoundByController[] = "pv.kubernetes.io/bound-by-controller";
  const ObjectMeta& metadata = volume.metadata;
  nlohmann::json document;
  document["metadata"]["resourceVersion"] = metadata.resource_version;
  const auto annotation = metadata.annotations.find(kBoundByController);
  if (annotation != metadata.annotations.end()) {
    document["metadata"]["annotations"][kBoundByController] =
        annotation->second;
  }
  Write(document["spec"]["claimRef"], *volume.spec.claim_ref);
  return document.dump();
}

std::string SelectedNodePatch(const PersistentVolumeClaim& claim) {
  constexpr char kSelectedNode[] = "volume.kubernetes.io/selected-node";
  const ObjectMeta& metadata = claim.metadata;
  nlohmann::json document;
  document["metadata"]["resourceVersion"] = metadata.resource_version;
  document["metadata"]["annotations"][kSelectedNode] =
      metadata.annotations.at(kSelectedNode);
  return document.dump();
}

}  // namespace minisched
