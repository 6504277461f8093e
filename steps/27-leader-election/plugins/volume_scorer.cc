#include "plugins/volume_scorer.h"

#include <cmath>
#include <map>
#include <string>

#include "minisched/api/volume_matching.h"
#include "plugins/resource_scores.h"

namespace minisched {
namespace {

// Of one class, in bytes.
struct StorageResource {
  Amount requested = 0;
  Amount capacity = 0;
};

// By the class in the spec, as upstream. If the pod gets existing volumes, its
// new volumes don't count.
std::map<std::string, StorageResource> ClassResources(
    const PodVolumes& volumes) {
  std::map<std::string, StorageResource> classes;
  for (const auto& [claim, volume] : volumes.static_bindings) {
    StorageResource& resource = classes[volume->spec.storage_class_name];
    resource.requested += StorageIn(claim->spec.resources.requests).Value();
    resource.capacity += StorageIn(volume->spec.capacity).Value();
  }
  if (!classes.empty()) return classes;
  for (const auto& [claim, capacity] : volumes.dynamic_provisions) {
    if (!capacity) continue;
    StorageResource& resource = classes[claim->spec.storage_class_name];
    resource.requested += StorageIn(claim->spec.resources.requests).Value();
    // Not a sum: the new volumes of a class share the storage.
    resource.capacity = capacity->capacity.value_or(Quantity()).Value();
  }
  return classes;
}

}  // namespace

std::int64_t StorageScore(const PodVolumes& volumes,
                          const std::vector<UtilizationShapePoint>& shape) {
  const auto classes = ClassResources(volumes);
  if (classes.empty()) return 0;
  std::int64_t sum = 0;
  for (const auto& [name, resource] : classes) {
    sum += UtilizationScore(shape, resource.requested, resource.capacity);
  }
  return std::llround(static_cast<double>(sum) /
                      static_cast<double>(classes.size()));
}

}  // namespace minisched
