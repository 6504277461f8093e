#include "minisched/app/logging.h"

#include <spdlog/sinks/stdout_color_sinks.h>

#include <memory>

namespace minisched {

void SetUpLogging(int verbosity) {
  spdlog::set_default_logger(std::make_shared<spdlog::logger>(
      "", std::make_shared<spdlog::sinks::stderr_color_sink_mt>()));
  spdlog::set_pattern("%H:%M:%S.%e %^%-5!l%$ %v");
  spdlog::set_level(verbosity >= 2   ? spdlog::level::trace
                    : verbosity == 1 ? spdlog::level::debug
                                     : spdlog::level::info);
  spdlog::flush_on(spdlog::level::trace);
}

}  // namespace minisched
