#include "minisched/client/pod_eviction.h"

#include <stop_token>
#include <utility>

#include "minisched/base/task.h"
#include "minisched/client/pod_status.h"

namespace minisched {
namespace {

using VictimPtr = std::shared_ptr<const Pod>;

// For about 20 s, in which a server can restart.
constexpr int kVictimGetRetries = 10;

Task<ClientResult<bool>> EvictPod(Client& client, VictimPtr pod, Condition why,
                                  Time now, std::stop_token stop) {
  const auto patch = [&](const Callback<ClientResult<bool>>& done) {
    PatchPodStatusAsync(client, pod, {.condition = why, .even_if_bound = true},
                        now, stop, done);
  };
  const auto patched = co_await CallbackResult<ClientResult<bool>>(patch);
  if (!patched || !*patched) co_return patched;

  // With its uid, a newer pod of the same name isn't deleted: that is a 409.
  const ObjectMeta& metadata = pod->metadata;
  const auto remove = [&](const Callback<ClientResult<void>>& done) {
    client.DeleteAsync<Pod>(metadata.namespace_name, metadata.name,
                            {.uid = metadata.uid}, stop, done);
  };
  const auto deleted = co_await CallbackResult<ClientResult<void>>(remove);
  if (deleted) co_return true;
  const ClientError& error = deleted.error();
  if (error.code() == 404) co_return false;

  // The DELETE may have had its effect nevertheless.
  const auto get = [&](const Callback<ClientResult<VictimPtr>>& done) {
    client.GetAsync<Pod>(metadata.namespace_name, metadata.name, stop, done,
                         kVictimGetRetries);
  };
  const auto left = co_await CallbackResult<ClientResult<VictimPtr>>(get);
  if (!left && left.error().code() == 404) co_return false;
  if (!left) co_return tl::unexpected(error);
  if ((*left)->metadata.uid != metadata.uid) co_return false;
  if ((*left)->metadata.deletion_timestamp) co_return true;
  co_return tl::unexpected(error);
}

}  // namespace

void EvictPodAsync(Client& client, const std::shared_ptr<const Pod>& pod,
                   const Condition& why, Time now, const std::stop_token& stop,
                   ClientCallback<bool> callback) {
  EvictPod(client, pod, why, now, stop).Start(std::move(callback));
}

}  // namespace minisched
