#include "minisched/base/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "minisched/base/process.h"

namespace minisched {
namespace {

using End = SubprocessResult::End;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

// How often RunSubprocess() checks whether the program has ended.
constexpr milliseconds kPeriod{10};

// The end of a pipe from which the output of a program is read.
class Output {
 public:
  Output(int file, std::size_t limit) : file_(file), limit_(limit) {
    fcntl(file_, F_SETFL, O_NONBLOCK);
  }
  ~Output() { Close(); }

  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  // Blocks until there is something to read, for at most kPeriod.
  void Await() const {
    pollfd file{file_, POLLIN, 0};  // ignored if the file is closed
    poll(&file, 1, static_cast<int>(kPeriod.count()));
  }

  // Reads what there is. Returns false if it is too much.
  bool Read(std::string& text) {
    char buffer[4096];
    while (file_ >= 0) {
      const ssize_t size = read(file_, buffer, sizeof buffer);
      if (size < 0 && errno == EINTR) continue;
      if (size < 0) return true;  // no more for now
      if (size == 0) Close();
      text.append(buffer, static_cast<std::size_t>(size));
      if (text.size() > limit_) return false;
    }
    return true;
  }

 private:
  void Close() {
    if (file_ >= 0) close(file_);
    file_ = -1;
  }

  int file_;
  std::size_t limit_;
};

}  // namespace

SubprocessResult RunSubprocess(const Subprocess& program,
                               std::stop_token stop) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return {.end = End::kNotStarted, .code = errno};
  }
  Output output(ends[0], program.max_output);
  Process process;
  const int error = process.Start(program.command, program.environment, ends[1],
                                  STDERR_FILENO);
  close(ends[1]);
  if (error != 0) return {.end = End::kNotStarted, .code = error};

  SubprocessResult result{.end = End::kExited};
  const auto deadline = steady_clock::now() + program.timeout;
  while (true) {
    const std::optional<int> status = process.Status(/*block=*/false);
    // The request to stop may be why the program has ended.
    if (stop.stop_requested()) {
      result.end = End::kStopped;
    } else if (!output.Read(result.output)) {
      result.end = End::kTooMuchOutput;
    } else if (status && WIFSIGNALED(*status)) {
      result.end = End::kSignalled;
      result.code = WTERMSIG(*status);
    } else if (status) {
      result.code = WEXITSTATUS(*status);
    } else if (steady_clock::now() >= deadline) {
      result.end = End::kTimedOut;
    } else {
      output.Await();
      continue;
    }
    return result;  // and kill the program, if it still runs
  }
}

}  // namespace minisched
