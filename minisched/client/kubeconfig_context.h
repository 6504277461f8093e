#pragma once

#include <string>

#include "minisched/client/kubeconfig_file.h"
#include "minisched/client/rest_config.h"

namespace minisched {

// Returns the configuration for one context: the second half of
// LoadRestConfig() in kubeconfig.h. Checks the context, its cluster and its
// user, reads the files they name and checks their contents. Throws
// ConfigError. Thread-safe.
// REQUIRES: kubeconfig has a context of that name.
//
// Follows client-go's clientcmd/client_config.go and clientcmd/validation.go.
RestConfig FromContext(const std::string& name, const Kubeconfig& kubeconfig);

}  // namespace minisched
