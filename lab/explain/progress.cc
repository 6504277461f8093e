#include "lab/explain/progress.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

namespace minisched::explain {
namespace {

constexpr std::chrono::seconds kPatience{2};

}  // namespace

Progress::Progress(Clock& clock, Print print)
    : clock_(clock),
      print_(std::move(print)),
      thread_([this](const std::stop_token& stop) { Run(stop); }) {}

void Progress::Begin(std::string what) {
  MutexLock lock(mu_);
  what_ = std::move(what);
}

void Progress::Run(const std::stop_token& stop) {
  std::string printed;
  std::chrono::seconds time{0};
  while (clock_.SleepFor(kPatience, stop)) {
    time += kPatience;
    const std::string next = Next(printed);
    if (next.empty()) continue;
    printed = next;
    print_(fmt::format("{} ({} s)", printed, time.count()));
  }
}

std::string Progress::Next(const std::string& printed) const {
  MutexLock lock(mu_);
  return what_ == printed ? "" : what_;
}

}  // namespace minisched::explain
