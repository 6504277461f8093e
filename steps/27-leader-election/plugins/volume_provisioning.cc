#include "plugins/volume_provisioning.h"

#include <algorithm>

#include "minisched/api/parse_error.h"
#include "minisched/api/volume_matching.h"
#include "minisched/informer/shared_informer_factory.h"
#include "plugins/volume_claims.h"

namespace minisched {
namespace {

bool PublishesCapacity(const Handle& handle, const std::string& driver) {
  const auto found = handle.informers.Of<CSIDriver>().store().Get("", driver);
  return found && found->spec.storage_capacity;
}

bool IsSufficient(const CSIStorageCapacity& capacity, const Quantity& size) {
  const auto& limit = VolumeLimit(capacity);
  return limit && *limit >= size;
}

Selector NodesOf(const CSIStorageCapacity& capacity) {
  if (!capacity.node_topology) return Selector::Nothing();
  try {
    return Selector::FromLabelSelector(*capacity.node_topology);
  } catch (const ParseError&) {
    return Selector::Nothing();  // the API server accepts no such selector
  }
}

}  // namespace

ClaimProvisioner::ClaimProvisioner(const Handle& handle,
                                   const PersistentVolumeClaim& claim) {
  const std::string class_name = StorageClassName(claim);
  const auto of_claim =
      handle.informers.Of<StorageClass>().store().Get("", class_name);
  if (!of_claim) return;
  const std::string& driver = of_claim->provisioner;
  makes_volumes_ = !driver.empty() && driver != "kubernetes.io/no-provisioner";
  allowed_topologies_ = of_claim->allowed_topologies;
  const auto& requests = claim.spec.resources.requests;
  limited_ = requests.contains("storage") && PublishesCapacity(handle, driver);
  if (!limited_) return;
  const auto all = handle.informers.Of<CSIStorageCapacity>().store().List();
  for (const CapacityPtr& capacity : all) {
    if (capacity->storage_class_name == class_name &&
        IsSufficient(*capacity, StorageIn(requests))) {
      sufficient_.push_back({capacity, NodesOf(*capacity)});
    }
  }
}

bool ClaimProvisioner::Serves(const Node& node) const {
  return makes_volumes_ &&
         MatchTopologySelectorTerms(allowed_topologies_, node.metadata.labels);
}

CapacityPtr ClaimProvisioner::FindCapacity(const Node& node) const {
  const auto found =
      std::ranges::find_if(sufficient_, [&](const Storage& storage) {
        return storage.nodes.Matches(node.metadata.labels);
      });
  return found == sufficient_.end() ? nullptr : found->capacity;
}

}  // namespace minisched
