#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "minisched/config/configuration.h"
#include "minisched/config/field_error.h"

namespace minisched {

// What a file says.
struct ConfigurationSource {
  // Fields that the file doesn't have, or that are wrong, have their defaults.
  // The plugins are those that the file names: see defaults.h for the rest.
  KubeSchedulerConfiguration configuration;
  // Unknown and repeated fields, and values of a wrong type.
  FieldErrors errors;
  // The line of each field and element, by its path. Empty for JSON.
  std::map<std::string, int, std::less<>> lines;
};

// Reads a KubeSchedulerConfiguration from YAML or JSON, strictly: names of
// fields are case-sensitive, and each field must be known. Throws ParseError if
// the text is malformed, has no document or several, or if it is of another
// kind or apiVersion.
ConfigurationSource ReadConfiguration(std::string_view text);

// Returns the line of the value at `path`, or of the innermost one around it
// that has a line; 0 if there is none.
int FindLine(const std::map<std::string, int, std::less<>>& lines,
             std::string_view path);

}  // namespace minisched
