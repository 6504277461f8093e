#include "plugins/coscheduling.h"

#include <fmt/format.h>

#include <chrono>
#include <tuple>

#include "minisched/api/duration.h"
#include "waiting_pods.h"

namespace minisched {
namespace {

// How long the first member waits for the others. As in scheduler-plugins.
constexpr std::chrono::seconds kPermitWaitingTime{10};
// How long a group isn't tried after it has failed, so that other pods can use
// the room that it has given back. Longer than the wait of another group, and
// longer than the backoff of any pod: ten seconds, plus one until the queue
// flushes backoffQ. Otherwise two groups could take turns for ever, and leave
// no time in which other pods find room.
constexpr std::chrono::seconds kGroupBackoff{15};

// What pods are sorted by.
struct Key {
  std::int32_t priority;
  Clock::TimePoint since;
  std::string group;  // empty: an ordinary pod
};

Key KeyOf(const QueuedPodInfo& info, const PodGroups& groups) {
  if (const auto group = groups.Find(*info.pod)) {
    return {group->priority, group->since, group->key};
  }
  return {info.pod->spec.priority.value_or(0), info.timestamp, ""};
}

Status FailedRecently(const std::string& group) {
  return {Code::kUnschedulableAndUnresolvable,
          fmt::format("podGroup {} failed recently", group)};
}

}  // namespace

std::vector<ClusterEventWithHint> Coscheduling::EventsToRegister() const {
  // A member that gets a node may help the others. A new member without a node
  // causes no event: it activates the others when it waits. The deletion of a
  // member must not wake the others: otherwise a group that has failed would
  // take its room again at once.
  return {
      {{EventResource::kPod, action::kAdd},
       [](const Pod& pod, const ClusterChange& change) {
         const auto group = PodGroup::Of(pod);
         const auto other = PodGroup::Of(*change.New<Pod>());
         return QueueIf(group && other && group->key == other->key);
       }},
      {{EventResource::kPod, action::kUpdatePodLabel},
       [](const Pod& pod, const ClusterChange& change) {
         return QueueIf(change.New<Pod>()->metadata.uid == pod.metadata.uid);
       }}};
}

bool Coscheduling::Less(const QueuedPodInfo& a, const QueuedPodInfo& b) const {
  const Key key_a = KeyOf(a, *handle_.pod_groups);
  const Key key_b = KeyOf(b, *handle_.pod_groups);
  return std::tie(key_b.priority, key_a.since, key_a.group, a.timestamp) <
         std::tie(key_a.priority, key_b.since, key_b.group, b.timestamp);
}

Status Coscheduling::PreFilter(CycleState& /*state*/, const Pod& pod,
                               const Nodes& /*nodes*/,
                               PreFilterResult& /*result*/) const {
  const auto group = handle_.pod_groups->Find(pod);
  if (!group) return {};
  const auto own = PodGroup::Of(pod);
  if (own && own->min_available != group->min_available) {
    return {Code::kUnschedulable, "PodGroupMinAvailables do not match"};
  }
  if (own && own->priority != group->priority) {
    return {Code::kUnschedulable, "Priorities do not match"};
  }
  if (handle_.pod_groups->MembersOf(group->key).size() <
      static_cast<std::size_t>(group->min_available)) {
    return {Code::kUnschedulableAndUnresolvable, "less than pgMinAvailable"};
  }
  MutexLock lock(mu_);
  if (backing_off_.contains(group->key)) return FailedRecently(group->key);
  return {};
}

Status Coscheduling::Reserve(CycleState& /*state*/, const Pod& pod,
                             const std::string& /*node_name*/) const {
  handle_.pod_groups->Assume(pod);
  return {};
}

void Coscheduling::Unreserve(CycleState& /*state*/, const Pod& pod,
                             const std::string& /*node_name*/) const {
  handle_.pod_groups->Forget(pod);
  const auto group = PodGroup::Of(pod);  // Find() has no deleted pods.
  if (!group) return;
  MutexLock lock(mu_);
  if (waiting_.contains(group->key)) {
    RejectGroup(group->key, "rejection in Unreserve");
  }
}

Status Coscheduling::Permit(CycleState& /*state*/, const Pod& pod,
                            const std::string& /*node_name*/,
                            Clock::Duration& timeout) const {
  const auto group = handle_.pod_groups->Find(pod);
  if (!group) return {};
  const std::string& key = group->key;
  std::vector<PodPtr> others;
  {
    MutexLock lock(mu_);
    ForgetRejected(key);
    const auto members = handle_.pod_groups->MembersOf(key);
    if (members.placed() >= static_cast<std::size_t>(group->min_available)) {
      for (const PodPtr& member : members.assumed) {
        const auto waiting = handle_.waiting_pods->Get(member->metadata.uid);
        if (waiting) waiting->Allow(Name());
      }
      EndWait(key);
      return {};
    }
    if (backing_off_.contains(key)) return FailedRecently(key);
    timeout = kPermitWaitingTime;
    if (waiting_.contains(key)) return Code::kWait;
    waiting_[key] = handle_.executor->PostAfter(timeout, [this, key] {
      MutexLock lock(mu_);
      if (!waiting_.contains(key)) return;
      RejectGroup(key,
                  fmt::format("rejected due to timeout after waiting {} "
                              "at plugin {}",
                              FormatGoDuration(kPermitWaitingTime), Name()));
    });
    others = members.pending;
  }
  handle_.activate(others);
  return Code::kWait;
}

void Coscheduling::ForgetRejected(const std::string& key) const {
  for (const PodPtr& member : handle_.pod_groups->MembersOf(key).assumed) {
    const auto waiting = handle_.waiting_pods->Get(member->metadata.uid);
    if (waiting && waiting->IsRejected()) handle_.pod_groups->Forget(*member);
  }
}

void Coscheduling::RejectGroup(const std::string& key,
                               const std::string& message) const {
  for (const PodPtr& member : handle_.pod_groups->MembersOf(key).assumed) {
    const auto waiting = handle_.waiting_pods->Get(member->metadata.uid);
    // Permit must not count the member from now on. Unreserve() comes later.
    if (waiting && waiting->Reject(Name(), message)) {
      handle_.pod_groups->Forget(*member);
    }
  }
  EndWait(key);
  backing_off_.insert(key);
  handle_.executor->PostAfter(kGroupBackoff, [this, key] { Retry(key); });
}

void Coscheduling::EndWait(const std::string& key) const {
  if (const auto timer = waiting_.extract(key)) {
    handle_.executor->Cancel(timer.mapped());
  }
}

void Coscheduling::Retry(const std::string& key) const {
  {
    MutexLock lock(mu_);
    backing_off_.erase(key);
  }
  handle_.activate(handle_.pod_groups->MembersOf(key).pending);
}

}  // namespace minisched
