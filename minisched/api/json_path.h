#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace minisched {

// Paths name the values of a document, in messages: "spec.containers[2].name".
// The path of the whole document is "". A key with a dot is in brackets, like
// an index: "metadata.labels[kubernetes.io/hostname]".

// Returns the path of a member of the object at `path`.
std::string MemberPath(std::string path, std::string_view key);

// Returns the path of an element of the list at `path`.
std::string ElementPath(std::string path, std::size_t index);

// Returns the paths of the keys that are repeated in a JSON document, in the
// order of the repetitions. REQUIRES: `json` is valid.
std::vector<std::string> RepeatedKeys(std::string_view json);

}  // namespace minisched
