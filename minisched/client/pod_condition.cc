#include "minisched/client/pod_condition.h"

#include <string>
#include <utility>

#include "minisched/api/conditions.h"
#include "minisched/api/json.h"
#include "minisched/client/errors.h"

namespace minisched {
namespace {

constexpr int kMaxTries = 4;

// One call of PatchPodConditionAsync(). Owned by the callbacks of its requests.
class ConditionPatch : public std::enable_shared_from_this<ConditionPatch> {
 public:
  ConditionPatch(Client& client, std::shared_ptr<const Pod> known,
                 Condition condition, Time now, std::stop_token stop,
                 ClientCallback<bool> done)
      : client_(client),
        known_(std::move(known)),
        condition_(std::move(condition)),
        now_(now),
        stop_(std::move(stop)),
        done_(std::move(done)) {}

  // Sends the PATCH, unless the pod needs none.
  void Patch(const Pod& pod) {
    if (pod.metadata.uid != known_->metadata.uid ||
        !pod.spec.node_name.empty()) {
      return done_(false);
    }
    PodStatus patched = pod.status;
    if (!UpdateCondition(patched.conditions, condition_, now_)) {
      return done_(true);
    }
    Pod patch;
    patch.metadata.resource_version = pod.metadata.resource_version;
    // The server merges conditions by type, so only this condition changes.
    patch.status.conditions = {
        *FindCondition(patched.conditions, condition_.type)};
    ++tries_;
    client_.PatchAsync<Pod>(
        known_->metadata.namespace_name, known_->metadata.name,
        PatchType::kStrategicMerge, ToJson(patch), "status", stop_,
        [self = shared_from_this()](const auto& result) {
          if (result) return self->done_(true);
          const ClientError& error = result.error();
          if (error.code() != 409 || self->tries_ == kMaxTries) {
            return self->Fail(error);
          }
          self->GetAndPatch();
        });
  }

 private:
  void GetAndPatch() {
    client_.GetAsync<Pod>(known_->metadata.namespace_name,
                          known_->metadata.name, stop_,
                          [self = shared_from_this()](const auto& result) {
                            if (!result) return self->Fail(result.error());
                            self->Patch(**result);
                          });
  }

  void Fail(const ClientError& error) {
    if (error.code() == 404) return done_(false);
    done_(tl::unexpected(error));
  }

  Client& client_;
  const std::shared_ptr<const Pod> known_;
  const Condition condition_;
  const Time now_;
  const std::stop_token stop_;
  const ClientCallback<bool> done_;
  int tries_ = 0;
};

}  // namespace

bool PatchPodCondition(Client& client, const std::shared_ptr<const Pod>& pod,
                       const Condition& condition, Time now,
                       const std::stop_token& stop) {
  return Await<bool>([&](auto done) {
    PatchPodConditionAsync(client, pod, condition, now, stop, std::move(done));
  });
}

void PatchPodConditionAsync(Client& client,
                            const std::shared_ptr<const Pod>& pod,
                            const Condition& condition, Time now,
                            const std::stop_token& stop,
                            ClientCallback<bool> callback) {
  std::make_shared<ConditionPatch>(client, pod, condition, now, stop,
                                   std::move(callback))
      ->Patch(*pod);
}

}  // namespace minisched
