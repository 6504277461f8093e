#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "lab/live/recording.h"

namespace minisched::live {

// Returns the objects that a recording has at the moment of the record with
// this sequence: a List for `kubectl create` and `minisched-apiserver --load`,
// as YAML. In a recording without records, the sequence is the number of a
// line. Throws RecordingError.
//
// Adds the namespaces and priority classes that the pods need, if the recording
// lacks them, as those of --record do. Leaves out pods that have ended and
// objects that are being deleted.
std::string ObjectsAt(const std::string& path, std::uint64_t sequence);

// Returns the number of items before the first change that `what` names. A
// name, with or without the namespace: any change of this node or pod.
// "POD:PLACE": the arrival of the pod at this place of a trace, such as
// "web-1:bound". ":PLACE": the arrival of any pod. Throws RecordingError if the
// recording has no such change.
std::size_t CountBefore(const Recording& recording, const std::string& what);

}  // namespace minisched::live
