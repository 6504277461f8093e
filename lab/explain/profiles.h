#pragma once

#include <string>
#include <vector>

namespace minisched::explain {

// Reads a KubeSchedulerConfiguration in YAML or JSON, and returns it as JSON
// for the scheduler of a copy: without a limit on requests, without extenders,
// which causes a warning, and only with the profile of this schedulerName.
// Throws CannotTell if there is no such profile, and CannotPlay if the text is
// malformed. `source` names the file in errors.
std::string SelectProfile(const std::string& text, const std::string& source,
                          const std::string& scheduler_name,
                          std::vector<std::string>& warnings);

}  // namespace minisched::explain
