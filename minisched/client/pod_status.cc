#include "minisched/client/pod_status.h"

#include <utility>

#include "minisched/api/conditions.h"
#include "minisched/api/pod_status_patch.h"
#include "minisched/client/errors.h"

namespace minisched {
namespace {

constexpr int kMaxPatchRetries = 3;

// One call of PatchPodStatusAsync(). Owned by the callbacks of its requests.
class StatusPatch : public std::enable_shared_from_this<StatusPatch> {
 public:
  StatusPatch(Client& client, std::shared_ptr<const Pod> known,
              PodStatusChange change, Time now, std::stop_token stop,
              ClientCallback<bool> done)
      : client_(client),
        known_(std::move(known)),
        change_(std::move(change)),
        now_(now),
        stop_(std::move(stop)),
        done_(std::move(done)) {}

  // Sends the PATCH, unless the pod needs none.
  void Patch(const Pod& pod) {
    if (pod.metadata.uid != known_->metadata.uid ||
        (!pod.spec.node_name.empty() && !change_.even_if_bound)) {
      return done_(false);
    }
    const PodStatusPatch patch = DifferenceTo(pod);
    if (!patch.condition && !patch.nominated_node_name) return done_(true);
    client_.PatchAsync<Pod>(
        known_->metadata.namespace_name, known_->metadata.name,
        PatchType::kStrategicMerge, ToJson(patch), "status", stop_,
        [self = shared_from_this()](const auto& result) {
          if (result) return self->done_(true);
          const ClientError& error = result.error();
          if (error.code() != 409 || self->retries_++ == kMaxPatchRetries) {
            return self->Fail(error);
          }
          self->GetAndPatch();
        },
        kMaxPatchRetries);
  }

 private:
  // Returns the part of the change that the pod doesn't have yet.
  PodStatusPatch DifferenceTo(const Pod& pod) const {
    PodStatusPatch patch{.resource_version = pod.metadata.resource_version};
    std::vector<Condition> conditions = pod.status.conditions;
    if (change_.condition &&
        UpdateCondition(conditions, *change_.condition, now_)) {
      patch.condition = *FindCondition(conditions, change_.condition->type);
    }
    const std::string& node = pod.status.nominated_node_name;
    const bool clears_another = change_.nominated_node_name == "" &&
                                node != known_->status.nominated_node_name;
    if (change_.nominated_node_name != node && !clears_another) {
      patch.nominated_node_name = change_.nominated_node_name;
    }
    return patch;
  }

  void GetAndPatch() {
    client_.GetAsync<Pod>(
        known_->metadata.namespace_name, known_->metadata.name, stop_,
        [self = shared_from_this()](const auto& result) {
          if (!result) return self->Fail(result.error());
          self->Patch(**result);
        },
        kMaxPatchRetries);
  }

  void Fail(const ClientError& error) {
    if (error.code() == 404) return done_(false);
    done_(tl::unexpected(error));
  }

  Client& client_;
  const std::shared_ptr<const Pod> known_;
  const PodStatusChange change_;
  const Time now_;
  const std::stop_token stop_;
  const ClientCallback<bool> done_;
  int retries_ = 0;
};

}  // namespace

bool PatchPodStatus(Client& client, const std::shared_ptr<const Pod>& pod,
                    const PodStatusChange& change, Time now,
                    const std::stop_token& stop) {
  return Await<bool>([&](auto done) {
    PatchPodStatusAsync(client, pod, change, now, stop, std::move(done));
  });
}

void PatchPodStatusAsync(Client& client, const std::shared_ptr<const Pod>& pod,
                         const PodStatusChange& change, Time now,
                         const std::stop_token& stop,
                         ClientCallback<bool> callback) {
  std::make_shared<StatusPatch>(client, pod, change, now, stop,
                                std::move(callback))
      ->Patch(*pod);
}

}  // namespace minisched
