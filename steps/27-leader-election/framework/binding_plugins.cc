// Runs the plugins that follow the selection of a node: Reserve and Permit in
// the scheduling cycle, the others in the binding cycle.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "framework/framework.h"

namespace minisched {
namespace {

// The longest wait on Permit.
constexpr std::chrono::minutes kMaxTimeout{15};

// Returns the status with the plugin's name. A status that is neither success
// nor a rejection becomes an error, and its message names the plugin and the
// extension point too.
Status FromPlugin(const Status& status, std::string_view point,
                  std::string_view plugin) {
  if (status.IsSuccess() || status.IsRejected()) {
    return status.WithPlugin(plugin);
  }
  return Status(Code::kError, fmt::format("running {} plugin \"{}\": {}", point,
                                          plugin, status.Message()))
      .WithPlugin(plugin);
}

}  // namespace

Status Framework::RunReservePluginsReserve(CycleState& state, const Pod& pod,
                                           const std::string& node_name) const {
  for (ReservePlugin* plugin : reserve_plugins_) {
    const Status status = FromPlugin(plugin->Reserve(state, pod, node_name),
                                     "Reserve", plugin->Name());
    state.report().Ran("Reserve", plugin->Name(), status);
    if (!status.IsSuccess()) return status;
  }
  return {};
}

void Framework::RunReservePluginsUnreserve(CycleState& state, const Pod& pod,
                                           const std::string& node_name) const {
  std::for_each(
      reserve_plugins_.rbegin(), reserve_plugins_.rend(),
      [&](ReservePlugin* plugin) { plugin->Unreserve(state, pod, node_name); });
}

Status Framework::RunPermitPlugins(CycleState& state, const Pod& pod,
                                   const std::string& node_name,
                                   PluginWaits& waits) const {
  for (PermitPlugin* plugin : permit_plugins_) {
    Clock::Duration timeout{};
    const Status result = plugin->Permit(state, pod, node_name, timeout);
    if (result.code() == Code::kWait) {
      timeout = std::min<Clock::Duration>(timeout, kMaxTimeout);
      waits[plugin->Name()] = timeout;
      state.report().Waits(plugin->Name(), timeout);
      continue;
    }
    const Status status = FromPlugin(result, "Permit", plugin->Name());
    state.report().Ran("Permit", plugin->Name(), status);
    if (!status.IsSuccess()) return status;
  }
  return waits.empty() ? Code::kSuccess : Code::kWait;
}

Status Framework::RunPreBindPreFlights(CycleState& state, const Pod& pod,
                                       const std::string& node_name) const {
  Status result = Code::kSkip;
  for (const PreBindPlugin* plugin : pre_bind_plugins_) {
    const Status status = plugin->PreBindPreFlight(state, pod, node_name);
    if (status.IsSuccess()) {
      result = status;
    } else if (status.code() == Code::kSkip) {
      state.skipped_pre_bind.push_back(plugin);
    } else {
      return {Code::kError, fmt::format("running PreBindPreFlight \"{}\": {}",
                                        plugin->Name(), status.Message())};
    }
  }
  return result;
}

Task<Status> Framework::RunPreBindPlugins(CycleState& state, const Pod& pod,
                                          const std::string& node_name,
                                          std::stop_token stop) const {
  for (const PreBindPlugin* plugin : pre_bind_plugins_) {
    if (std::ranges::count(state.skipped_pre_bind, plugin) > 0) continue;
    const auto pre_bind = [&](StatusCallback done) {
      plugin->PreBind(state, pod, node_name, stop, std::move(done));
    };
    const Status result = co_await CallbackResult<Status>(pre_bind);
    const Status status = FromPlugin(result, "PreBind", plugin->Name());
    state.report().Ran("PreBind", plugin->Name(), status);
    if (!status.IsSuccess()) co_return status;
  }
  co_return Code::kSuccess;
}

Task<Status> Framework::RunBindPlugins(CycleState& state, const Pod& pod,
                                       const std::string& node_name,
                                       std::stop_token stop) const {
  for (const BindPlugin* plugin : bind_plugins_) {
    const auto bind = [&](StatusCallback done) {
      plugin->Bind(state, pod, node_name, stop, std::move(done));
    };
    const Status result = co_await CallbackResult<Status>(bind);
    if (result.code() == Code::kSkip) continue;
    const Status status = FromPlugin(result, "Bind", plugin->Name());
    state.report().Ran("Bind", plugin->Name(), status);
    co_return status;
  }
  co_return Status(Code::kError, "no Bind plugin has bound the pod");
}

void Framework::RunPostBindPlugins(CycleState& state, const Pod& pod,
                                   const std::string& node_name) const {
  for (const PostBindPlugin* plugin : post_bind_plugins_) {
    plugin->PostBind(state, pod, node_name);
  }
}

}  // namespace minisched
