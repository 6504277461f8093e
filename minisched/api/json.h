#pragma once

#include <string>
#include <string_view>

namespace minisched {

// Objects from and to JSON, for the types of minisched/api: each T with a
// kResource, ObjectList<T> and WatchEvent<T> of it, and ApiStatus.

// Fields that T does not model are ignored; fields that are absent or null keep
// their default. Throws ParseError, naming the path of the field that is wrong:
// "spec.containers[0].name: expected a string, found a number".
template <class T>
T FromJson(std::string_view text);

// Leaves out what is empty. For an object, apiVersion and kind are written too.
template <class T>
std::string ToJson(const T& value);

}  // namespace minisched
