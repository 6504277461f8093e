#include "minisched/app/live_page.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "minisched/base/log.h"
#include "minisched/client/errors.h"
#include "minisched/live/access.h"
#include "minisched/live/api_proxy.h"

namespace minisched {
namespace {

using live::LiveActions;

// The end of the embedded API server's version.
constexpr std::string_view kEmbedded = "+minisched";

bool IsEmbedded(const LivePageOptions& options) {
  return options.server_version.ends_with(kEmbedded);
}

live::LiveOptions ServerOptions(const RestConfig& config,
                                const LivePageOptions& options) {
  const bool embedded = IsEmbedded(options);
  return {.port = options.port,
          .token = embedded ? "" : live::NewToken(),
          .control = embedded || options.control,
          .program = options.program,
          .scheduler = options.scheduler_name,
          .source = config.server};
}

// True if scripts/cluster has made the cluster.
bool IsDisposable(Client& client, const std::stop_token& stop) {
  const auto system = nlohmann::json::parse(
      client.Send({.method = "GET", .path = "/api/v1/namespaces/kube-system"},
                  stop),
      nullptr, /*allow_exceptions=*/false);
  const nlohmann::json::json_pointer label(
      "/metadata/labels/minisched-cluster");
  return system.contains(label) && system.at(label) == "disposable";
}

// Reads the cluster's objects for a later reset. Returns false if there must
// not be one.
bool Remember(live::Transfer& transfer, Client& client,
              const LivePageOptions& options, const std::stop_token& stop) {
  if (options.server_version.empty()) return false;
  try {
    if (!IsEmbedded(options) && !IsDisposable(client, stop)) return false;
    transfer.Remember(stop);
    return true;
  } catch (const std::runtime_error& error) {
    spdlog::warn("the live page cannot reset the cluster: {}", error.what());
    return false;
  }
}

LiveActions Actions(Trace& trace, PaceSetter& pace, Client& client,
                    live::Collector& collector, live::Transfer& transfer) {
  return {
      .collect =
          [&collector](std::size_t pages) { return collector.Collect(pages); },
      .attempt = [&trace](const std::string& uid,
                          int number) -> std::optional<std::string> {
        const RecordPtr record = trace.FindAttempt(uid, number);
        return record ? std::optional(ToJsonLine(*record)) : std::nullopt;
      },
      .pace = [&pace](const std::string& text) { pace.Set(text); },
      .end_wait = [&trace](const std::string& uid,
                           bool allow) { return trace.EndWait(uid, allow); },
      .all_rejections =
          [&collector](bool on) { collector.SetAllRejections(on); },
      .api =
          [&client](const http::Request& request,
                    LiveActions::Respond respond) {
            live::PassToApi(client, request, std::move(respond));
          },
      .export_objects =
          [&transfer](const http::Request&, LiveActions::Respond respond) {
            transfer.Export(std::move(respond));
          },
      .import_objects =
          [&transfer](const http::Request& request,
                      LiveActions::Respond respond) {
            transfer.Import(request, std::move(respond));
          },
      .reset =
          [&transfer](const http::Request&, LiveActions::Respond respond) {
            transfer.Reset(std::move(respond));
          }};
}

}  // namespace

LivePage::LivePage(Trace& trace, PaceSetter& pace, const RestConfig& config,
                   const LivePageOptions& options, const std::stop_token& stop)
    : client_(config),
      collector_(trace, client_, history_, [&pace] { return pace.every(); }),
      transfer_(client_) {
  trace.KeepFailures();  // for a page that is opened later
  LiveActions actions = Actions(trace, pace, client_, collector_, transfer_);
  if (!Remember(transfer_, client_, options, stop)) {
    actions.import_objects = nullptr;
    actions.reset = nullptr;
  }
  if (options.change_actions) options.change_actions(actions);
  try {
    server_.emplace(ServerOptions(config, options), history_,
                    std::move(actions));
  } catch (const std::runtime_error& error) {
    throw ConfigError(options.port_flag + std::to_string(options.port) + ": " +
                      error.what());
  }
}

}  // namespace minisched
