#include "lab/live/live_page.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "lab/live/access.h"
#include "lab/live/api_proxy.h"
#include "minisched/base/log.h"
#include "minisched/client/errors.h"

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

LiveActions Actions(Client& client, live::Transfer& transfer) {
  return {.api =
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

LivePage::LivePage(const RestConfig& config, const LivePageOptions& options,
                   const std::stop_token& stop, Clock& clock)
    : client_(config, clock),
      collector_(client_, history_),
      transfer_(client_) {
  LiveActions actions = Actions(client_, transfer_);
  if (!Remember(transfer_, client_, options, stop)) {
    actions.import_objects = nullptr;
    actions.reset = nullptr;
  }
  if (options.add_actions) options.add_actions(actions);
  try {
    server_.emplace(ServerOptions(config, options), history_,
                    std::move(actions));
  } catch (const std::runtime_error& error) {
    throw ConfigError(fmt::format("--port {}: {}", options.port, error.what()));
  }
}

}  // namespace minisched
