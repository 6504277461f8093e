#include "plugins/coscheduling.h"

#include <fmt/format.h>

#include <chrono>
#include <tuple>

#include "framework/waiting_pods.h"
#include "minisched/base/executor.h"

namespace minisched {
namespace {

// How long the first member waits for the others. As in scheduler-plugins.
constexpr std::chrono::seconds kPermitWaitingTime{10};
// How long a group isn't tried after it has failed, so that other pods can use
// the resources that it has given back. Longer than the wait of another group,
// and longer than the backoff of any pod: ten seconds, plus one until the queue
// flushes backoffQ. Otherwise two groups could take turns for ever, and the
// resources would never be free for other pods.
constexpr std::chrono::seconds kGroupBackoff{15};

const std::string kNoGroup;

bool SameGroup(const Pod& a, const Pod& b) {
  const auto group_a = PodGroup::Of(a);
  const auto group_b = PodGroup::Of(b);
  return group_a && group_b && group_a->key == group_b->key;
}

Status FailedRecently(const std::string& group) {
  return {Code::kUnschedulableAndUnresolvable,
          fmt::format("podGroup {} failed recently", group)};
}

}  // namespace

std::vector<ClusterEventWithHint> Coscheduling::EventsToRegister() const {
  // A member that gets a node, joins the group or changes its minimum may help
  // the others. A new member without a node causes no event: it activates the
  // others when it waits. The members of a group that has failed need no event:
  // Retry() activates them.
  const auto in_a_group = [](const ClusterChange& change) {
    const auto old = change.Old<Pod>();
    return PodGroup::Of(*change.New<Pod>()) || (old && PodGroup::Of(*old));
  };
  const auto in_the_same_group = [](const Pod& pod,
                                    const ClusterChange& change) {
    const auto other = change.New<Pod>();
    return QueueIf(other->metadata.uid == pod.metadata.uid ||
                   SameGroup(pod, *other));
  };
  return {{{EventResource::kPod, action::kAdd}, in_the_same_group, in_a_group},
          {{EventResource::kPod, action::kUpdatePodLabel},
           in_the_same_group,
           in_a_group}};
}

Status Coscheduling::PreEnqueue(const Pod& pod) const {
  const auto group = handle_.pod_groups->Find(pod);
  if (!group) return {};
  MutexLock lock(mu_);
  if (backing_off_.contains(group->key)) return FailedRecently(group->key);
  return {};
}

bool Coscheduling::Less(const QueuedPodInfo& a, const QueuedPodInfo& b) const {
  const auto priority = [](const QueuedPodInfo& info) {
    return info.group ? info.group->priority
                      : info.pod->spec.priority.value_or(0);
  };
  const auto since = [](const QueuedPodInfo& info) {
    return info.group ? info.group->since : info.timestamp;
  };
  const auto key = [](const QueuedPodInfo& info) -> const std::string& {
    return info.group ? info.group->key : kNoGroup;
  };
  if (priority(a) != priority(b)) return priority(a) > priority(b);
  if (since(a) != since(b)) return since(a) < since(b);
  return std::tie(key(a), a.timestamp) < std::tie(key(b), b.timestamp);
}

void Coscheduling::BeforeSort(QueuedPodInfo& info) const {
  info.group = handle_.pod_groups->Find(*info.pod);
}

Status Coscheduling::PreFilter(CycleState& /*state*/, const Pod& pod,
                               const Nodes& /*nodes*/,
                               PreFilterResult& /*result*/) const {
  // PreEnqueue doesn't run again for the pods that are in activeQ when their
  // group fails.
  Status gated = PreEnqueue(pod);
  if (!gated.IsSuccess()) return gated;
  const auto group = handle_.pod_groups->Find(pod);
  if (!group) return {};
  const auto own = PodGroup::Of(pod);
  if (own && own->min_available != group->min_available) {
    return {Code::kUnschedulableAndUnresolvable,
            "PodGroupMinAvailables do not match"};
  }
  if (own && own->priority != group->priority) {
    return {Code::kUnschedulableAndUnresolvable, "Priorities do not match"};
  }
  if (handle_.pod_groups->CountsOf(group->key).size() <
      static_cast<std::size_t>(group->min_available)) {
    return {Code::kUnschedulableAndUnresolvable, "less than pgMinAvailable"};
  }
  return {};
}

Status Coscheduling::PostFilter(
    const CycleState& /*state*/, const Pod& pod,
    const NodeToStatus& /*statuses*/,
    std::optional<std::string>& nominated_node) const {
  const auto group = handle_.pod_groups->Find(pod);
  MutexLock lock(mu_);
  if (!group || !failed_.contains(group->key)) return Code::kUnschedulable;
  nominated_node = "";
  return {Code::kUnschedulableAndUnresolvable,
          fmt::format("podGroup {} has failed, so it preempts no pods",
                      group->key)};
}

Status Coscheduling::Reserve(CycleState& /*state*/, const Pod& pod,
                             const std::string& /*node_name*/) const {
  handle_.pod_groups->Assume(pod);
  return {};
}

void Coscheduling::Unreserve(CycleState& /*state*/, const Pod& pod,
                             const std::string& /*node_name*/) const {
  handle_.pod_groups->Forget(pod);
  const auto group = handle_.pod_groups->Find(pod);
  const auto labels = PodGroup::Of(pod);  // if the pod was deleted
  if (!group && !labels) return;
  MutexLock lock(mu_);
  const auto waiting = waiting_.find(group ? group->key : labels->key);
  if (waiting != waiting_.end()) {
    waiting->second->Reject("rejection in Unreserve");
  }
}

Status Coscheduling::Permit(CycleState& state, const Pod& pod,
                            const std::string& /*node_name*/,
                            Clock::Duration& timeout) const {
  const auto group = handle_.pod_groups->Find(pod);
  if (!group) return {};
  const std::string& key = group->key;
  {
    MutexLock lock(mu_);
    const auto waiting = waiting_.find(key);
    const bool first = waiting == waiting_.end();
    if (backing_off_.contains(key) ||
        (!first && waiting->second->IsRejected())) {
      return FailedRecently(key);
    }
    if (handle_.pod_groups->CountsOf(key).placed() >=
        static_cast<std::size_t>(group->min_available)) {
      failed_.erase(key);
      if (first) return {};
      if (!waiting->second->Allow()) return FailedRecently(key);
      waiting_.erase(waiting);
      return {};
    }
    if (first) {
      waiting_[key] =
          handle_.waiting_pods->NewGroup(Name(), [this, key] { BackOff(key); });
    }
    state.Write(WaitsWith{waiting_[key]});
    timeout = kPermitWaitingTime;
    if (!first) return Code::kWait;
  }
  handle_.activate(handle_.pod_groups->PendingOf(key));
  return Code::kWait;
}

void Coscheduling::BackOff(const std::string& key) const {
  std::vector<PodPtr> pods;
  {
    MutexLock lock(mu_);
    waiting_.erase(key);
    backing_off_.insert(key);
    failed_.insert(key);
    for (const auto& [other, group] : waiting_) {
      const auto pending = handle_.pod_groups->PendingOf(other);
      pods.insert(pods.end(), pending.begin(), pending.end());
    }
  }
  handle_.executor->PostAfter(kGroupBackoff, [this, key] { Retry(key); });
  if (!pods.empty()) handle_.activate(pods);
}

void Coscheduling::Retry(const std::string& key) const {
  const auto pending = handle_.pod_groups->PendingOf(key);
  {
    MutexLock lock(mu_);
    backing_off_.erase(key);
    if (pending.empty()) failed_.erase(key);  // the pods are gone
  }
  handle_.activate(pending);
}

}  // namespace minisched
