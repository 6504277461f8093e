#pragma once

#include <map>
#include <string>

#include "minisched/client/kubeconfig_file.h"
#include "minisched/client/rest_config.h"

namespace minisched {

// The parts of kubeconfig files about programs that print credentials.

// The name of the extension of a cluster that is passed to such a program.
inline constexpr char kExecExtension[] = "client.authentication.k8s.io/exec";

// Returns this extension of each cluster that has one, as JSON, by the
// cluster's name. `file` is the file's name, for messages; `text` is its
// contents. Throws ConfigError without secrets.
std::map<std::string, std::string> ExecExtensions(const std::string& file,
                                                  const std::string& text);

// Checks a user's `exec` and returns it for a RestConfig. Does not look for the
// program. Throws ConfigError.
//
// Follows client-go's clientcmd/validation.go, and newAuthenticator() and
// isInteractive() in plugin/pkg/client/auth/exec/exec.go. A scheduler has no
// terminal, so interactiveMode must not be Always.
ExecConfig CheckExec(const KubeconfigUser& user,
                     const KubeconfigCluster& cluster);

}  // namespace minisched
