#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "minisched/api/labels.h"
#include "minisched/api/meta.h"
#include "minisched/trace/records.h"

// The results of attempts as annotations of their pods, in the form of
// kube-scheduler-simulator. docs/reference/trace.md describes them.

namespace minisched {

// Returns the size of the annotations, names included.
std::size_t AnnotationBytes(const Labels& annotations);

// The largest size that all annotations of an object may have. Follows
// TotalAnnotationSizeLimitB of apimachinery's pkg/api/validation/objectmeta.go.
inline constexpr std::size_t kMaxAnnotationBytes = 256 << 10;

// Returns the results of an attempt as annotations, without the history.
// Follows the simulator's resultstore/store.go and wrappedplugin.go.
Labels ResultAnnotations(const Attempt& attempt);

// A change of a pod's annotations.
struct AnnotationPatch {
  std::string json;  // a merge patch with the pod's uid; empty: no change
  // The names of the annotations for which the limit leaves no space.
  std::vector<std::string> left_out;
};

// Returns the patch that sets the results, and appends them to the history that
// the pod has. Returns no change if the pod has these results already. If all
// annotations together would exceed `limit`, first drops the oldest entries of
// the history, then leaves out the largest results. Follows the simulator's
// storereflector.go, which has no limit. Replaces a history that is malformed.
AnnotationPatch PatchResults(const ObjectMeta& pod, Labels results,
                             std::size_t limit = kMaxAnnotationBytes);

}  // namespace minisched
