#pragma once

#include <string>

#include "minisched/config/configuration.h"

namespace minisched {

// Returns a completed configuration as YAML, in the form in which
// `kube-scheduler --write-config-to` writes it: with all defaults and sorted
// keys. LoadConfiguration() reads the same configuration from it.
std::string WriteConfiguration(const KubeSchedulerConfiguration& configuration);

// Returns the response of /configz: the same as JSON, as the member
// "componentconfig", without the keys of extenders.
std::string Configz(KubeSchedulerConfiguration configuration);

}  // namespace minisched
