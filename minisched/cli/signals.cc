#include "minisched/cli/signals.h"

#include <unistd.h>

#include <csignal>
#include <cstring>
#include <utility>

#include "minisched/base/log.h"

namespace minisched {

StopOnSignal::StopOnSignal(std::function<void()> on_usr2)
    : on_usr2_(std::move(on_usr2)) {
  sigemptyset(&signals_);
  sigaddset(&signals_, SIGINT);
  sigaddset(&signals_, SIGTERM);
  sigaddset(&signals_, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &signals_, &mask_before_);
  thread_ = std::jthread([this](std::stop_token done) { Wait(done); });
}

StopOnSignal::~StopOnSignal() {
  thread_.request_stop();
  // Wakes the thread, which waits for this signal in sigwait().
  // NOLINTNEXTLINE(bugprone-bad-signal-to-kill-thread)
  pthread_kill(thread_.native_handle(), SIGTERM);
  thread_.join();
  // Ignoring SIGUSR2 also discards a pending one, which would end the program
  // when the mask is restored.
  std::signal(SIGUSR2, SIG_IGN);
  pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
}

void StopOnSignal::Wait(const std::stop_token& done) {
  int signal = 0;
  while (sigwait(&signals_, &signal) == 0 && !done.stop_requested()) {
    if (signal == SIGUSR2) {
      if (on_usr2_) on_usr2_();
      continue;
    }
    if (stop_.stop_requested()) {
      pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
      kill(getpid(), signal);
    }
    spdlog::info("stopping on SIG{}", sigabbrev_np(signal));
    stop_.request_stop();
  }
}

}  // namespace minisched
