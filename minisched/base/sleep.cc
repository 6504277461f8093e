#include "minisched/base/sleep.h"

#include <functional>
#include <optional>

namespace minisched {

Task<> SleepFor(Executor& executor, Clock::Duration duration,
                std::stop_token stop) {
  std::optional<std::stop_callback<std::function<void()>>> stopped;
  const auto start = [&](const Callback<void>& wake) {
    const Executor::Timer timer = executor.PostAfter(duration, wake);
    stopped.emplace(stop, [&executor, timer, wake] {
      if (executor.Cancel(timer)) executor.Post(wake);
    });
  };
  co_await CallbackResult<void>(start);
}

}  // namespace minisched
