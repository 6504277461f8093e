#pragma once

#include <string>

#include "minisched/client/kubeconfig_file.h"
#include "minisched/client/rest_config.h"

namespace minisched {

// What a context comes down to: the half of LoadRestConfig (kubeconfig.h) that
// follows after a context is chosen. Checks the context, its cluster and its
// user, reads their files and checks what is in them.
// REQUIRES: kubeconfig has a context of that name.
// Throws ConfigError. Thread-safe.
//
// Follows client-go's clientcmd/client_config.go and clientcmd/validation.go.
RestConfig FromContext(const std::string& name, const Kubeconfig& kubeconfig);

}  // namespace minisched
