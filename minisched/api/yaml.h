#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace minisched {

// The documents of a YAML stream, or the one JSON document, each as JSON text.
// Documents that are empty are left out.
//
// Plain scalars mean what they mean to kubectl, which follows YAML 1.1: `on` is
// true, 0644 is octal, and a date is a string. Where a key is there twice the
// last one counts, `<<` being as good as any.
//
// Throws ParseError, with line and column, if `text` is malformed, if its
// aliases would make much of little, or if it is YAML with more than
// `max_values` scalars, lists and maps, keys included. JSON is returned as it
// is.
std::vector<std::string> YamlToJson(
    std::string_view text,
    std::size_t max_values = std::numeric_limits<std::size_t>::max());

}  // namespace minisched
