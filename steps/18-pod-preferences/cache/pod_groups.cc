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
  const auto group = PodGroup::Of(*pod, clock_.Now());
  MutexLock lock(mu_);
  auto place = places_.find(uid);
  if (place != places_.end() && (!group || place->second.key != group->key)) {
    RemoveMember(uid);
    place = places_.end();
  }
  if (!group) return;
  if (place == places_.end()) {
    place = places_.emplace(uid, Place{group->key, ++added_}).first;
  }
  State& state = groups_[group->key];
  if (!state.group) state.group = std::make_shared<const PodGroup>(*group);
  Member& member = state.members[place->second.number];
  Change(state, member, pod, member.assumed);
  UpdateGroup(state);
}

void PodGroups::Remove(const Pod& pod) {
  MutexLock lock(mu_);
  RemoveMember(pod.metadata.uid);
}

void PodGroups::Assume(const Pod& pod) {
  MutexLock lock(mu_);
  SetAssumed(pod, true);
}

void PodGroups::Forget(const Pod& pod) {
  MutexLock lock(mu_);
  SetAssumed(pod, false);
}

PodGroupPtr PodGroups::Find(const Pod& pod) const {
  MutexLock lock(mu_);
  const auto place = places_.find(pod.metadata.uid);
  if (place == places_.end()) return nullptr;
  return groups_.at(place->second.key).group;
}

PodGroups::Counts PodGroups::CountsOf(const std::string& key) const {
  MutexLock lock(mu_);
  const auto state = groups_.find(key);
  return state == groups_.end() ? Counts{} : state->second.counts;
}

std::vector<PodPtr> PodGroups::PendingOf(const std::string& key) const {
  std::vector<PodPtr> pending;
  MutexLock lock(mu_);
  const auto state = groups_.find(key);
  if (state == groups_.end()) return pending;
  Counts counts;
  for (const auto& [number, member] : state->second.members) {
    if (CounterOf(member, counts) == &counts.pending) {
      pending.push_back(member.pod);
    }
  }
  return pending;
}

std::size_t* PodGroups::CounterOf(const Member& member, Counts& counts) {
  if (!member.pod || member.pod->metadata.deletion_timestamp) return nullptr;
  if (!member.pod->spec.node_name.empty()) return &counts.bound;
  if (member.assumed) return &counts.assumed;
  return member.pod->spec.scheduling_gates.empty() ? &counts.pending : nullptr;
}

void PodGroups::Change(State& state, Member& member, PodPtr pod, bool assumed) {
  if (std::size_t* before = CounterOf(member, state.counts)) --*before;
  member = {std::move(pod), assumed};
  if (std::size_t* after = CounterOf(member, state.counts)) ++*after;
}

void PodGroups::UpdateGroup(State& state) {
  const auto& members = state.members;
  auto first = std::find_if(members.begin(), members.end(), [](const auto& m) {
    return !m.second.pod->metadata.deletion_timestamp;
  });
  if (first == members.end()) first = members.begin();
  const auto oldest = PodGroup::Of(*first->second.pod);
  const PodGroup& group = *state.group;
  if (oldest->min_available == group.min_available &&
      oldest->priority == group.priority) {
    return;
  }
  state.group = std::make_shared<const PodGroup>(PodGroup{
      group.key, oldest->min_available, oldest->priority, group.since});
}

void PodGroups::SetAssumed(const Pod& pod, bool assumed) {
  const auto place = places_.find(pod.metadata.uid);
  if (place == places_.end()) return;
  State& state = groups_.at(place->second.key);
  Member& member = state.members.at(place->second.number);
  Change(state, member, member.pod, assumed);
}

void PodGroups::RemoveMember(const std::string& uid) {
  const auto place = places_.extract(uid);
  if (place.empty()) return;
  const auto state = groups_.find(place.mapped().key);
  const auto member = state->second.members.find(place.mapped().number);
  Change(state->second, member->second, nullptr, false);
  state->second.members.erase(member);
  if (state->second.members.empty()) {
    groups_.erase(state);
  } else {
    UpdateGroup(state->second);
  }
}

}  // namespace minisched
