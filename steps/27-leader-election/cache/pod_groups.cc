#include "cache/pod_groups.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace minisched {
namespace {

constexpr char kName[] = "pod-group.scheduling.sigs.k8s.io/name";
constexpr char kMinAvailable[] =
    "pod-group.scheduling.sigs.k8s.io/min-available";

}  // namespace

std::optional<PodGroup> PodGroup::Of(const Pod& pod, Clock::TimePoint now) {
  const Labels& labels = pod.metadata.labels;
  const auto name = labels.find(kName);
  const auto min = labels.find(kMinAvailable);
  if (name == labels.end() || name->second.empty() || min == labels.end()) {
    return std::nullopt;
  }
  int min_available = 0;
  const char* end = min->second.data() + min->second.size();
  const auto [parsed, error] =
      std::from_chars(min->second.data(), end, min_available);
  if (error != std::errc() || parsed != end || min_available < 1) {
    return std::nullopt;
  }
  return PodGroup{.key = pod.metadata.namespace_name + "/" + name->second,
                  .min_available = min_available,
                  .priority = pod.spec.priority.value_or(0),
                  .since = now};
}

void PodGroups::Set(const PodPtr& pod) {
  const std::string& uid = pod->metadata.uid;
  const auto group = PodGroup::Of(*pod);
  MutexLock lock(mu_);
  const auto place = places_.find(uid);
  if (place == places_.end() || !group || place->second.key != group->key) {
    RemoveMember(uid);
    if (!group) return;
    places_[uid] = {group->key, ++added_};
  }
  State& state = groups_[group->key];
  state.members[places_.at(uid).number].pod = pod;
  UpdateGroup(state);
}

void PodGroups::Remove(const Pod& pod) {
  MutexLock lock(mu_);
  RemoveMember(pod.metadata.uid);
}

std::shared_ptr<const PodGroup> PodGroups::Find(const Pod& pod) const {
  MutexLock lock(mu_);
  const auto place = places_.find(pod.metadata.uid);
  if (place == places_.end()) return nullptr;
  return groups_.at(place->second.key).group;
}

PodGroups::Members PodGroups::MembersOf(const std::string& key) const {
  Members members;
  MutexLock lock(mu_);
  const auto state = groups_.find(key);
  if (state == groups_.end()) return members;
  members.failed = state->second.failed;
  for (const auto& [number, member] : state->second.members) {
    const Pod& pod = *member.pod;
    if (pod.metadata.deletion_timestamp) continue;
    if (!pod.spec.node_name.empty()) {
      members.bound.push_back(member.pod);
    } else if (member.assumed) {
      members.assumed.push_back(member.pod);
    } else if (pod.spec.scheduling_gates.empty()) {
      members.pending.push_back(member.pod);
    }
  }
  return members;
}

void PodGroups::SetFailed(const std::string& key, bool failed) {
  MutexLock lock(mu_);
  const auto state = groups_.find(key);
  if (state != groups_.end()) state->second.failed = failed;
}

void PodGroups::UpdateGroup(State& state) {
  const auto& members = state.members;
  auto oldest = std::ranges::find_if(members, [](const auto& member) {
    return !member.second.pod->metadata.deletion_timestamp;
  });
  if (oldest == members.end()) oldest = members.begin();
  const auto since = state.group ? state.group->since : clock_.Now();
  state.group = std::make_shared<const PodGroup>(
      *PodGroup::Of(*oldest->second.pod, since));
}

void PodGroups::SetAssumed(const Pod& pod, bool assumed) {
  MutexLock lock(mu_);
  const auto place = places_.find(pod.metadata.uid);
  if (place == places_.end()) return;
  State& state = groups_.at(place->second.key);
  state.members.at(place->second.number).assumed = assumed;
}

void PodGroups::RemoveMember(const std::string& uid) {
  const auto place = places_.extract(uid);
  if (place.empty()) return;
  const auto state = groups_.find(place.mapped().key);
  state->second.members.erase(place.mapped().number);
  if (state->second.members.empty()) {
    groups_.erase(state);
  } else {
    UpdateGroup(state->second);
  }
}

}  // namespace minisched
