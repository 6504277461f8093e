#include "minisched/app/live_page.h"

#include <optional>
#include <stdexcept>

#include "minisched/client/errors.h"
#include "minisched/live/access.h"

namespace minisched {
namespace {

// The end of the embedded API server's version.
constexpr std::string_view kEmbedded = "+minisched";

live::LiveOptions ServerOptions(const RestConfig& config,
                                const LivePageOptions& options) {
  const bool embedded = options.server_version.ends_with(kEmbedded);
  return {.port = options.port,
          .token = embedded ? "" : live::NewToken(),
          .control = embedded || options.control,
          .program = options.program,
          .scheduler = options.scheduler_name,
          .source = config.server};
}

}  // namespace

LivePage::LivePage(Trace& trace, PaceSetter& pace, const RestConfig& config,
                   const LivePageOptions& options) try
    : client_(config),
      collector_(trace, client_, history_, [&pace] { return pace.every(); }),
      server_(
          ServerOptions(config, options), history_,
          {.collect =
               [this](std::size_t pages) { return collector_.Collect(pages); },
           .attempt = [&trace](const std::string& uid,
                               int number) -> std::optional<std::string> {
             const RecordPtr record = trace.FindAttempt(uid, number);
             if (!record) return std::nullopt;
             return ToJsonLine(*record);
           },
           .pace = [&pace](const std::string& text) { pace.Set(text); },
           .end_wait = [&trace](
                           const std::string& uid,
                           bool allow) { return trace.EndWait(uid, allow); },
           .all_rejections =
               [this](bool on) { collector_.SetAllRejections(on); }}) {
} catch (const ConfigError&) {
  throw;
} catch (const std::runtime_error& error) {
  throw ConfigError("--live=" + std::to_string(options.port) + ": " +
                    error.what());
}

}  // namespace minisched
