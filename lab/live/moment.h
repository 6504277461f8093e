#pragma once

#include <cstdint>
#include <string>

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

}  // namespace minisched::live
