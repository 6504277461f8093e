#include "lab/scenario/embedded.h"

#include <chrono>

#include "lab/scenario/errors.h"
#include "minisched/base/clock.h"
#include "minisched/client/errors.h"

namespace minisched::scenario {
namespace {

constexpr std::chrono::seconds kStartTimeout{20};
constexpr std::chrono::milliseconds kPollEvery{5};

}  // namespace

Embedded::Embedded(const std::filesystem::path& directory,
                   const std::stop_token& stop)
    : kubeconfig_(directory / "kubeconfig") {
  const auto program =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() /
      "minisched-apiserver";
  if (!std::filesystem::exists(program)) {
    throw CannotPlay(program.string() +
                     ": not found; --embedded needs it beside this program");
  }
  const std::filesystem::path log = directory / "apiserver.log";
  process_.emplace("exec " + ShellQuote(program) +
                       " --simulate --kubeconfig-out " +
                       ShellQuote(kubeconfig_),
                   std::map<std::string, std::string>{}, log);
  Clock& clock = RealClock();
  const auto deadline = clock.Now() + kStartTimeout;
  while (!std::filesystem::exists(kubeconfig_)) {
    if (const auto ended = process_->Ended()) {
      throw CannotPlay("the embedded server ended with " + *ended + ": " +
                       LastLines(log, 1));
    }
    if (clock.Now() > deadline) {
      throw CannotPlay("the embedded server did not start in time");
    }
    if (!clock.SleepFor(kPollEvery, stop)) throw Cancelled();
  }
}

}  // namespace minisched::scenario
