#include "minisched/client/pod_eviction.h"

#include <utility>

#include "minisched/client/pod_status.h"

namespace minisched {
namespace {

void DeletePod(Client& client, const Pod& pod, const std::stop_token& stop,
               ClientCallback<bool> callback) {
  // With its uid, a newer pod of the same name isn't deleted: that is a 409.
  client.DeleteAsync<Pod>(
      pod.metadata.namespace_name, pod.metadata.name, {.uid = pod.metadata.uid},
      stop,
      [callback = std::move(callback)](const ClientResult<void>& deleted) {
        if (deleted) return callback(true);
        const int code = deleted.error().code();
        if (code == 404 || code == 409) return callback(false);
        callback(tl::unexpected(deleted.error()));
      });
}

}  // namespace

void EvictPodAsync(Client& client, const std::shared_ptr<const Pod>& pod,
                   const Condition& why, Time now, const std::stop_token& stop,
                   ClientCallback<bool> callback) {
  PatchPodStatusAsync(
      client, pod, {.condition = why, .even_if_bound = true}, now, stop,
      [&client, pod, stop,
       callback = std::move(callback)](const ClientResult<bool>& patched) {
        if (!patched || !*patched) return callback(patched);
        DeletePod(client, *pod, stop, callback);
      });
}

}  // namespace minisched
