#pragma once

#include <string>
#include <string_view>

namespace minisched {

// Reads and writes the types of minisched/api as JSON: each T with a kResource,
// ObjectList<T> and WatchEvent<T> for such a T, and ApiStatus.

// Parses an object. Ignores fields that T doesn't have; absent and null fields
// keep their defaults. Throws ParseError with the path of the wrong field:
// "spec.containers[0].name: expected a string, found a JSON number".
// With `keep_json`, the pods and nodes of a list or a watch event keep their
// JSON in `whole_json`.
template <class T>
T FromJson(std::string_view text, bool keep_json = false);

// Writes an object with apiVersion and kind. Leaves out empty fields.
template <class T>
std::string ToJson(const T& value);

}  // namespace minisched
