#pragma once

#include <stop_token>
#include <string>

#include "minisched/client/exec_credential.h"
#include "minisched/client/rest_config.h"

namespace minisched {

// Returns the program's name for messages: `FILE: user "u": exec command "p"`.
// Leaves out its arguments, which may contain secrets.
std::string ExecCommandName(const ExecConfig& exec);

// Runs the program of config.exec and returns the credentials that it prints.
// Blocks until the program has ended, at most for its timeout. Throws
// ConfigError, which names the program and what to do, and Cancelled if `stop`
// asks to stop, which kills the program. Thread-safe.
//
// The program's standard input is empty. Its standard error is that of this
// process, so that users see its messages. Errors don't contain what it prints
// to its standard output.
//
// Follows refreshCredsLocked() in client-go
// plugin/pkg/client/auth/exec/exec.go, which has no time limit.
ExecCredential RunExecPlugin(const RestConfig& config, std::stop_token stop);

}  // namespace minisched
