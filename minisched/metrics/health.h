#pragma once

#include <functional>
#include <string>
#include <vector>

#include "minisched/metrics/callbacks.h"

namespace minisched {

// The result of a health check.
struct HealthResult {
  std::string name;
  std::string error;  // empty if the check passed
};

// The checks that decide whether a scheduler is ready (/readyz). Thread-safe.
class Health {
 public:
  // Returns what is wrong, or "" if the check passes.
  using Check = std::function<std::string()>;

  // Returns checks that nobody reads, for schedulers without an App.
  static Health& Unread();

  // Adds a check. The server's thread calls `check` for each request, so it
  // must be fast. It may take locks. Don't call AddReadyzCheck(), and don't
  // destroy the registration, under such a lock.
  [[nodiscard]] Registration AddReadyzCheck(const std::string& name,
                                            Check check);

  // Calls all checks, in the order in which they were added.
  std::vector<HealthResult> CheckReadyz() const;

 private:
  Callbacks<HealthResult> readyz_;
};

}  // namespace minisched
