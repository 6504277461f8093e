#pragma once

#include "lab/apiserver/object.h"
#include "lab/apiserver/store.h"

namespace minisched::apiserver {

// Does to a new pod what upstream's admission plugins do that matter to a
// scheduler: LimitRanger, Priority, DefaultTolerationSeconds, RuntimeClass and
// PodTopologyLabels. Throws StatusError (403) if one of them refuses the pod.
void AdmitPod(Json& pod, const Store& store);

// Fills in what AdmitPod() sets and the pod lacks, and refuses nothing. For a
// pod that was never on a server, but may have the fields of one that was. A
// class that doesn't exist counts as none.
void CompletePod(Json& pod, const Store& store);

// Adds the tolerations that keep a pod for five minutes on a node that is not
// ready or unreachable.
void AddDefaultTolerations(Json& spec);

// Adds an expression to each label selector in the pod's spec for each key of
// the matchLabelKeys and mismatchLabelKeys beside the selector, unless the
// selector has the expression. The value of the expression is the value of the
// pod's own label. Skips keys that the pod's labels lack.
void MergeLabelKeys(Json& pod);

}  // namespace minisched::apiserver
