#include "minisched/client/exec_plugin.h"

#include <cctype>
#include <cerrno>
#include <chrono>
#include <sstream>
#include <string>
#include <system_error>

#include "minisched/api/parse_error.h"
#include "minisched/base/subprocess.h"
#include "minisched/client/errors.h"

namespace minisched {
namespace {

using End = SubprocessResult::End;

// Returns an install hint as a part of one line. Hints often have several, and
// a control character could change the terminal's state.
std::string OneLine(const std::string& text) {
  std::istringstream words(text);
  std::string line;
  for (std::string word; words >> word;) {
    for (char& c : word) {
      if (std::iscntrl(static_cast<unsigned char>(c)) != 0) c = '?';
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return line;
}

std::string NotStarted(const ExecConfig& exec, int error) {
  if (error != ENOENT) return ": " + std::generic_category().message(error);
  const bool is_path = exec.command.front().find('/') != std::string::npos;
  const std::string hint = OneLine(exec.install_hint);
  return (is_path ? " does not exist; " : " is not on $PATH; ") +
         (hint.empty() ? "install it, or correct the kubeconfig" : hint);
}

// Returns what went wrong, as the end of a message.
std::string Problem(const ExecConfig& exec, const SubprocessResult& result) {
  switch (result.end) {
    case End::kExited:
      return " failed with exit code " + std::to_string(result.code) +
             "; see its messages on standard error";
    case End::kSignalled:
      return " was ended by signal " + std::to_string(result.code);
    case End::kNotStarted:
      return NotStarted(exec, result.code);
    case End::kTimedOut: {
      std::ostringstream limit;
      limit << std::chrono::duration<double>(exec.timeout).count();
      return " was killed because it did not end within " + limit.str() +
             " s; it cannot ask for a login here, so log in before";
    }
    case End::kTooMuchOutput:
      return " was killed because it printed more than 1 MiB";
    case End::kStopped:
      break;
  }
  return " was stopped";
}

}  // namespace

std::string ExecCommandName(const ExecConfig& exec) {
  return exec.source + ": exec command " + Quoted(exec.command.front());
}

ExecCredential RunExecPlugin(const RestConfig& config, std::stop_token stop) {
  const ExecConfig& exec = *config.exec;
  Subprocess program{.command = exec.command,
                     .environment = exec.environment,
                     .timeout = exec.timeout};
  program.environment["KUBERNETES_EXEC_INFO"] = ExecInfo(config);
  const SubprocessResult result = RunSubprocess(program, stop);
  if (result.end == End::kStopped) throw Cancelled();

  const std::string command = ExecCommandName(exec);
  if (result.end != End::kExited || result.code != 0) {
    throw ConfigError(command + Problem(exec, result));
  }
  try {
    return ParseExecCredential(result.output, exec.api_version);
  } catch (const ParseError& error) {
    throw ConfigError(command +
                      " printed no valid ExecCredential: " + error.what());
  }
}

}  // namespace minisched
