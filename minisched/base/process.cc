#include "minisched/base/process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace minisched {
namespace {

// Returns this process's environment with the variables of `set`.
std::vector<std::string> EnvironmentWith(
    const std::map<std::string, std::string>& set) {
  std::vector<std::string> all;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    std::string text = *variable;
    if (!set.contains(text.substr(0, text.find('=')))) {
      all.push_back(std::move(text));
    }
  }
  for (const auto& [name, value] : set) all.push_back(name + "=" + value);
  return all;
}

// Returns the strings as C functions take them. They must outlive the result.
std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& string : strings) pointers.push_back(string.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Runs in the child after fork(), where only async-signal-safe calls are
// allowed. Writes an errno to the pipe `failure`, unless the program starts.
[[noreturn]] void Exec(char* const* command, char* const* environment,
                       int output, int errors, int failure) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  constexpr int kFailure = STDERR_FILENO + 1;
  dup2(output, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
  dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
  // Sockets of the HTTP library aren't closed by themselves.
  if (failure != kFailure) dup3(failure, kFailure, O_CLOEXEC);
  closefrom(kFailure + 1);
  execvpe(command[0], command, environment);
  const int error = errno;
  while (write(kFailure, &error, sizeof error) < 0 && errno == EINTR) {
  }
  _exit(127);
}

}  // namespace

Process::~Process() {
  if (pid_ <= 0 || status_) return;
  Signal(SIGKILL);
  Status(/*block=*/true);
}

int Process::Start(const std::vector<std::string>& command,
                   const std::map<std::string, std::string>& environment,
                   int output, int errors) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return errno;
  std::vector<std::string> arguments = command;
  std::vector<std::string> variables = EnvironmentWith(environment);
  const std::vector<char*> argv = Pointers(arguments);
  const std::vector<char*> envp = Pointers(variables);
  pid_ = fork();
  if (pid_ == 0) Exec(argv.data(), envp.data(), output, errors, ends[1]);
  int error = pid_ < 0 ? errno : 0;
  close(ends[1]);
  // Blocks until the program starts, which closes the pipe, or fails to start.
  while (read(ends[0], &error, sizeof error) < 0 && errno == EINTR) {
  }
  close(ends[0]);
  if (pid_ > 0 && error != 0) Status(/*block=*/true);
  return error;
}

std::optional<int> Process::Status(bool block) {
  if (status_) return status_;
  int status = 0;
  pid_t done = 0;
  do {
    done = waitpid(pid_, &status, block ? 0 : WNOHANG);
  } while (done < 0 && errno == EINTR);
  if (done == pid_) status_ = status;
  return status_;
}

void Process::Signal(int number) const { kill(-pid_, number); }

}  // namespace minisched
