#pragma once

#include <cstdint>
#include <vector>

#include "minisched/config/plugin_args.h"
#include "plugins/volume_binder.h"

namespace minisched {

// Returns the score of a node for the volumes that the pod would get there: by
// default the percentage of the storage that the pod's claims leave free. So
// small claims leave the large volumes to others, and new volumes are made
// where most storage is left. The score is the mean of the pod's classes, and 0
// if nothing is known about the storage. Follows
// plugins/volumebinding/scorer.go.
std::int64_t StorageScore(const PodVolumes& volumes,
                          const std::vector<UtilizationShapePoint>& shape =
                              VolumeBindingArgs().shape);

}  // namespace minisched
