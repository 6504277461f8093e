#include "minisched/metrics/health.h"

#include <utility>

namespace minisched {

Health& Health::Unread() {
  static Health health;
  return health;
}

Registration Health::AddReadyzCheck(const std::string& name, Check check) {
  return readyz_.Add([name, check = std::move(check)] {
    return HealthResult{.name = name, .error = check()};
  });
}

std::vector<HealthResult> Health::CheckReadyz() const {
  std::vector<HealthResult> results;
  readyz_.ForEach([&](const std::function<HealthResult()>& check) {
    results.push_back(check());
  });
  return results;
}

}  // namespace minisched
