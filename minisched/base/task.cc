#include "minisched/base/task.h"

#include <spdlog/spdlog.h>

#include <exception>

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
