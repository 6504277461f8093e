#include "pod_groups.h"

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
  const std::string& text = min->second;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), min_available);
  if (error != std::errc() || end != text.data() + text.size() ||
      min_available < 1) {
    return std::nullopt;
  }
  return PodGroup{.key = pod.metadata.namespace_name + "/" + name->second,
                  .min_available = min_available,
                  .priority = pod.spec.priority.value_or(0),
                  .since = now};
}

void PodGroups::Set(const PodPtr& pod) {
  const std::string& uid = pod->metadata.uid;
  auto group = PodGroup::Of(*pod, clock_.Now());
  MutexLock lock(mu_);
  const auto key = keys_.find(uid);
  if (key != keys_.end() && (!group || key->second != group->key)) {
    RemoveMember(uid);
  }
  if (!group) return;
  keys_[uid] = group->key;
  State& state =
      groups_.try_emplace(group->key, State{*group, {}}).first->second;
  state.members[uid].pod = pod;
}

void PodGroups::Remove(const Pod& pod) {
  MutexLock lock(mu_);
  RemoveMember(pod.metadata.uid);
}

void PodGroups::Assume(const Pod& pod) {
  MutexLock lock(mu_);
  if (Member* member = FindMember(pod)) member->assumed = true;
}

void PodGroups::Forget(const Pod& pod) {
  MutexLock lock(mu_);
  if (Member* member = FindMember(pod)) member->assumed = false;
}

std::optional<PodGroup> PodGroups::Find(const Pod& pod) const {
  MutexLock lock(mu_);
  const auto key = keys_.find(pod.metadata.uid);
  if (key == keys_.end()) return std::nullopt;
  return groups_.at(key->second).group;
}

PodGroups::Members PodGroups::MembersOf(const std::string& key) const {
  Members members;
  MutexLock lock(mu_);
  const auto state = groups_.find(key);
  if (state == groups_.end()) return members;
  for (const auto& [uid, member] : state->second.members) {
    const Pod& pod = *member.pod;
    if (pod.metadata.deletion_timestamp) continue;
    if (!pod.spec.node_name.empty()) {
      ++members.bound;
    } else if (member.assumed) {
      members.assumed.push_back(member.pod);
    } else if (pod.spec.scheduling_gates.empty()) {
      members.pending.push_back(member.pod);
    }
  }
  return members;
}

PodGroups::Member* PodGroups::FindMember(const Pod& pod) {
  const auto key = keys_.find(pod.metadata.uid);
  if (key == keys_.end()) return nullptr;
  return &groups_.at(key->second).members.at(pod.metadata.uid);
}

void PodGroups::RemoveMember(const std::string& uid) {
  const auto key = keys_.find(uid);
  if (key == keys_.end()) return;
  const auto state = groups_.find(key->second);
  state->second.members.erase(uid);
  if (state->second.members.empty()) groups_.erase(state);
  keys_.erase(key);
}

}  // namespace minisched
