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
  const auto concerns = [](const ClusterChange& change) {
    const auto old = change.Old<Pod>();
    return PodGroup::Of(*change.New<Pod>()) || (old && PodGroup::Of(*old));
  };
  const auto hint = [](const Pod& pod, const ClusterChange& change) {
    const auto other = change.New<Pod>();
    const auto group = PodGroup::Of(pod);
    const auto of_other = PodGroup::Of(*other);
    return QueueIf(other->metadata.uid == pod.metadata.uid ||
                   (group && of_other && group->key == of_other->key));
  };
  return {{{EventResource::kPod, action::kAdd}, hint, concerns},
          {{EventResource::kPod, action::kUpdatePodLabel}, hint, concerns}};
}

Status Coscheduling::PreEnqueue(const Pod& pod) const {
  const auto group = handle_.pod_groups.Find(pod);
  if (!group || !handle_.waiting_pods.IsGroupRejected(group->key)) return {};
  return FailedRecently(group->key);
}

bool Coscheduling::Less(const QueuedPodInfo& a, const QueuedPodInfo& b) const {
  const auto rank = [](const QueuedPodInfo& info) {
    const std::int64_t priority =
        info.group ? info.group->priority : info.pod->spec.priority.value_or(0);
    return std::tuple(
        -priority, info.group ? info.group->since : info.timestamp,
        info.group ? std::string_view(info.group->key) : "", info.timestamp);
  };
  return rank(a) < rank(b);
}

void Coscheduling::BeforeSort(QueuedPodInfo& info) const {
  info.group = handle_.pod_groups.Find(*info.pod);
}

Status Coscheduling::PreFilter(CycleState& /*state*/, const Pod& pod,
                               const Nodes& /*nodes*/,
                               PreFilterResult& /*result*/) const {
  // PreEnqueue doesn't run again for the pods that are in activeQ when their
  // group fails.
  Status gated = PreEnqueue(pod);
  const auto group = handle_.pod_groups.Find(pod);
  if (!gated.IsSuccess() || !group) return gated;
  const auto own = PodGroup::Of(pod);
  if (own && own->min_available != group->min_available) {
    return {Code::kUnschedulableAndUnresolvable,
            "PodGroupMinAvailables do not match"};
  }
  if (own && own->priority != group->priority) {
    return {Code::kUnschedulableAndUnresolvable, "Priorities do not match"};
  }
  const auto members = handle_.pod_groups.MembersOf(group->key);
  if (members.size() < group->min_available) {
    return {Code::kUnschedulableAndUnresolvable, "less than pgMinAvailable"};
  }
  return {};
}

Status Coscheduling::PostFilter(const CycleState& /*state*/, const Pod& pod,
                                const NodeToStatus& /*statuses*/,
                                NominatingInfo& nominating) {
  const auto group = handle_.pod_groups.Find(pod);
  if (!group || !handle_.pod_groups.MembersOf(group->key).failed) {
    return Code::kUnschedulable;
  }
  nominating = NominatingInfo::Override("");
  return {Code::kUnschedulableAndUnresolvable,
          fmt::format("podGroup {} has failed, so it preempts no pods",
                      group->key)};
}

Status Coscheduling::Reserve(CycleState& /*state*/, const Pod& pod,
                             const std::string& /*node_name*/) {
  handle_.pod_groups.Assume(pod);
  return {};
}

void Coscheduling::Unreserve(CycleState& /*state*/, const Pod& pod,
                             const std::string& /*node_name*/) {
  handle_.pod_groups.Forget(pod);
  const auto group = handle_.pod_groups.Find(pod);
  const auto labels = PodGroup::Of(pod);  // if the pod was deleted
  if (!group && !labels) return;
  handle_.waiting_pods.RejectGroup(group ? group->key : labels->key);
}

// What Permit does for one more member:
//
//   the group                | the minimum has nodes | the minimum has not
//   ------------------------ | --------------------- | ---------------------
//   no member waits          | passes                | waits, activates others
//   members wait             | passes, allows them   | waits
//   was rejected, backs off  | is rejected           | is rejected
Status Coscheduling::Permit(CycleState& state, const Pod& pod,
                            const std::string& /*node_name*/,
                            Clock::Duration& timeout) {
  const auto group = handle_.pod_groups.Find(pod);
  if (!group) return {};
  const std::string& key = group->key;
  const auto is_complete = [&] {
    return handle_.pod_groups.MembersOf(key).placed() >= group->min_available;
  };
  const GroupPermit permit = handle_.waiting_pods.PermitInGroup(
      key, Name(), is_complete, [this, key] { BackOff(key); });
  if (permit == GroupPermit::kRejected) return FailedRecently(key);
  if (permit == GroupPermit::kAllowed) {
    handle_.pod_groups.SetFailed(key, false);
    return {};
  }
  if (permit == GroupPermit::kFirst) {
    handle_.activate(handle_.pod_groups.MembersOf(key).pending);
  }
  state.Write(WaitsWith{key});
  timeout = kPermitWaitingTime;
  return Code::kWait;
}

void Coscheduling::BackOff(const std::string& key) {
  handle_.pod_groups.SetFailed(key, true);
  handle_.executor.PostAfter(kGroupBackoff, [this, key] { Retry(key); });
  std::vector<PodPtr> pods;
  for (const std::string& other : handle_.waiting_pods.WaitingGroups()) {
    const auto pending = handle_.pod_groups.MembersOf(other).pending;
    pods.insert(pods.end(), pending.begin(), pending.end());
  }
  if (!pods.empty()) handle_.activate(pods);
}

void Coscheduling::Retry(const std::string& key) {
  handle_.waiting_pods.RemoveGroup(key);
  handle_.activate(handle_.pod_groups.MembersOf(key).pending);
}

}  // namespace minisched
