#include "minisched/cli/logging.h"

#include <fmt/format.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_color_sinks.h>

#include <memory>
#include <string_view>

#include "minisched/base/printable.h"

namespace minisched {
namespace {

// Prints the level in five columns, "warning" as "warn".
class Level final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm& /*time*/,
              spdlog::memory_buf_t& out) override {
    const auto name = spdlog::level::to_string_view(message.level);
    const bool warns = message.level == spdlog::level::warn;
    fmt::format_to(std::back_inserter(out), "{:5.5}",
                   warns ? "warn" : std::string_view(name.data(), name.size()));
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<Level>();
  }
};

// Prints the message. It may contain text from the server, so control
// characters and broken UTF-8 are escaped. A line end is printed only before
// two spaces, as in tables. The server can't forge a line of the log, because
// such a line starts with a time.
class Message final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm& /*time*/,
              spdlog::memory_buf_t& out) override {
    constexpr std::string_view kNextLine = "\n  ";
    std::string_view rest(message.payload.data(), message.payload.size());
    for (;;) {
      const auto end = rest.find(kNextLine);
      out.append(Printable(rest.substr(0, end)));
      if (end == rest.npos) return;
      out.append(kNextLine);
      rest.remove_prefix(end + kNextLine.size());
    }
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<Message>();
  }
};

}  // namespace

void SetUpLogging(int verbosity) {
  spdlog::set_default_logger(std::make_shared<spdlog::logger>(
      "", std::make_shared<spdlog::sinks::stderr_color_sink_mt>()));
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<Level>('*').add_flag<Message>('v').set_pattern(
      "%H:%M:%S.%e %^%*%$ %v");
  spdlog::set_formatter(std::move(formatter));
  spdlog::set_level(verbosity >= 2   ? spdlog::level::trace
                    : verbosity == 1 ? spdlog::level::debug
                                     : spdlog::level::info);
  spdlog::flush_on(spdlog::level::trace);
}

}  // namespace minisched
