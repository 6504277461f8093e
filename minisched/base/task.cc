#include "minisched/base/task.h"

#include <exception>

#include "minisched/base/log.h"

namespace minisched {

void LogFailedTask() {
  try {
    throw;
  } catch (const std::exception& error) {
    spdlog::error("a task failed: {}", error.what());
  } catch (...) {
    spdlog::error("a task failed");
  }
}

}  // namespace minisched
