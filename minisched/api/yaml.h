#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace minisched {

// Converts a stream of YAML documents to JSON, one text for each document.
// Skips empty documents. Returns a JSON document unchanged.
//
// Plain scalars are interpreted as kubectl does, which follows YAML 1.1: `on`
// is true, 0644 is octal, and a date is a string. If a key is repeated, the
// last one counts; that includes keys merged with `<<`.
//
// Throws ParseError with line and column if `text` is malformed, if its aliases
// expand to too much, or if it is YAML with more than `max_values` scalars,
// lists and maps, including keys.
std::vector<std::string> YamlToJson(
    std::string_view text,
    std::size_t max_values = std::numeric_limits<std::size_t>::max());

// A document with what its JSON doesn't show. Paths are those of json_path.h.
struct YamlSource {
  std::string json;
  // The lines of keys and elements, from 1, by their paths. Has no values that
  // come from an alias or from JSON.
  std::map<std::string, int, std::less<>> lines;
  // The paths of keys that are repeated, in the order of the repetitions.
  std::vector<std::string> repeated_keys;
};

// Like YamlToJson(), with the source of each document. An empty document is
// null.
std::vector<YamlSource> ReadYaml(std::string_view text);

}  // namespace minisched
