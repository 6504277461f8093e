#include "minisched/base/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <functional>
#include <utility>

namespace minisched {
namespace {

using End = SubprocessResult::End;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

// A file descriptor that is closed at the end; -1 for none.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor() { Close(); }

  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return number_; }
  void Set(int number) {
    Close();
    number_ = number;
  }
  void Close() {
    if (number_ >= 0) close(number_);
    number_ = -1;
  }

 private:
  int number_;
};

// How posix_spawn() is to start a program that writes to `output`.
class SpawnOptions {
 public:
  explicit SpawnOptions(int output) {
    posix_spawn_file_actions_init(&files_);
    posix_spawn_file_actions_adddup2(&files_, output, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&files_, STDIN_FILENO, "/dev/null",
                                     O_RDONLY, 0);
    // Sockets of the HTTP library aren't closed by themselves.
    posix_spawn_file_actions_addclosefrom_np(&files_, STDERR_FILENO + 1);
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP |
                                               POSIX_SPAWN_SETSIGMASK |
                                               POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes_, 0);  // a new one
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes_, &signals);
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes_, &signals);
  }
  ~SpawnOptions() {
    posix_spawn_file_actions_destroy(&files_);
    posix_spawnattr_destroy(&attributes_);
  }

  SpawnOptions(const SpawnOptions&) = delete;
  SpawnOptions& operator=(const SpawnOptions&) = delete;

  const posix_spawn_file_actions_t* files() const { return &files_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t files_;
  posix_spawnattr_t attributes_;
};

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

// A program that runs. The destructor kills it.
class RunningProgram {
 public:
  ~RunningProgram() { Kill(); }

  // Starts the program. Returns 0, or an errno.
  int Start(const Subprocess& program) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return errno;
    output_.Set(ends[0]);
    const Descriptor input(ends[1]);
    fcntl(output_.get(), F_SETFL, O_NONBLOCK);
    stopped_.Set(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (stopped_.get() < 0) return errno;

    const SpawnOptions options(input.get());
    std::vector<std::string> command = program.command;
    std::vector<std::string> environment = EnvironmentWith(program.environment);
    const int error = posix_spawnp(
        &pid_, command.front().c_str(), options.files(), options.attributes(),
        Pointers(command).data(), Pointers(environment).data());
    if (error != 0) {
      pid_ = -1;
      return error;
    }
    // glibc 2.36 declares pidfd_open() for C only.
    ended_.Set(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
    return ended_.get() < 0 ? errno : 0;
  }

  // Reads the output and blocks until the program has ended (kExited) or must
  // be killed.
  End Await(const Subprocess& program, const std::stop_token& stop,
            std::string& output) {
    const auto deadline = steady_clock::now() + program.timeout;
    const std::stop_callback wake(stop,
                                  [this] { eventfd_write(stopped_.get(), 1); });
    while (true) {
      const auto left =
          std::chrono::ceil<milliseconds>(deadline - steady_clock::now());
      if (left <= milliseconds(0)) return End::kTimedOut;
      pollfd files[] = {{ended_.get(), POLLIN, 0},
                        {stopped_.get(), POLLIN, 0},
                        {output_.get(), POLLIN, 0}};
      const auto limit = std::min(left, milliseconds(INT_MAX));
      if (poll(files, std::size(files), static_cast<int>(limit.count())) < 0) {
        continue;  // a signal
      }
      if (files[1].revents != 0) return End::kStopped;
      if (!Read(program.max_output, output)) return End::kTooMuchOutput;
      if (files[0].revents != 0) return End::kExited;
    }
  }

  // Blocks until the program has ended, and returns how, as waitpid() does.
  int Reap() {
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return status;
  }

  void Kill() {
    if (pid_ < 0) return;
    kill(-pid_, SIGKILL);
    Reap();
  }

 private:
  // Reads what has come of the output. Returns false if it is too much.
  bool Read(std::size_t max_output, std::string& output) {
    char buffer[4096];
    while (output_.get() >= 0) {
      const ssize_t size = read(output_.get(), buffer, sizeof buffer);
      if (size < 0 && errno == EINTR) continue;
      if (size < 0) return true;  // no more for now
      if (size == 0) output_.Close();
      output.append(buffer, static_cast<std::size_t>(size));
      if (output.size() > max_output) return false;
    }
    return true;
  }

  pid_t pid_ = -1;  // -1: not started, or reaped
  Descriptor output_;
  Descriptor stopped_;  // readable when the stop token asks to stop
  Descriptor ended_;    // readable when the program has ended
};

}  // namespace

SubprocessResult RunSubprocess(const Subprocess& program,
                               std::stop_token stop) {
  RunningProgram running;
  if (const int error = running.Start(program); error != 0) {
    return {.end = End::kNotStarted, .code = error};
  }
  SubprocessResult result;
  result.end = running.Await(program, stop, result.output);
  if (result.end != End::kExited) return result;
  const int status = running.Reap();
  if (WIFSIGNALED(status)) {
    result.end = End::kSignalled;
    result.code = WTERMSIG(status);
  } else {
    result.code = WEXITSTATUS(status);
  }
  return result;
}

}  // namespace minisched
