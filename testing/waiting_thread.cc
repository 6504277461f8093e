#include "testing/waiting_thread.h"

#include <unistd.h>

#include <chrono>
#include <fstream>
#include <string>
#include <utility>

namespace minisched {
namespace {

constexpr std::chrono::seconds kThreadTimeout{20};
constexpr std::chrono::milliseconds kLookEvery{1};

// Returns a thread's state, as in proc(5): 'S' means asleep.
char StateOf(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string line;
  std::getline(file, line);
  // The state follows the name, which is in parentheses and may contain any
  // character.
  const std::size_t state = line.rfind(')') + 2;
  return state < line.size() ? line[state] : '?';
}

}  // namespace

WaitingThread::WaitingThread(std::function<void()> run)
    : thread_([this, run = std::move(run)] {
        id_ = gettid();
        run();
        ended_ = true;
      }) {}

bool WaitingThread::AwaitSleep() const {
  const auto deadline = std::chrono::steady_clock::now() + kThreadTimeout;
  while (id_ == 0 || StateOf(id_) != 'S') {
    if (ended_ || std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(kLookEvery);
  }
  return !ended_;
}

bool WaitingThread::AwaitEnd() const {
  const auto deadline = std::chrono::steady_clock::now() + kThreadTimeout;
  while (!ended_ && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(kLookEvery);
  }
  return ended_;
}

}  // namespace minisched
