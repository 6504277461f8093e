#include "cache/cache.h"

#include <fmt/format.h>

#include <utility>

namespace minisched {

Status Cache::AssumePod(PodInfoPtr pod) {
  const ObjectMeta& metadata = pod->pod->metadata;
  MutexLock lock(mu_);
  if (pods_.contains(metadata.uid)) {
    return {Code::kError,
            fmt::format("pod {}({}) is in the cache, so can't be assumed",
                        metadata.uid, ObjectName(metadata))};
  }
  SetPod(std::move(pod), /*assumed=*/true);
  return {};
}

void Cache::ForgetPod(const Pod& pod) {
  MutexLock lock(mu_);
  const auto state = pods_.find(pod.metadata.uid);
  if (state != pods_.end() && state->second.assumed) {
    RemovePodState(pod.metadata.uid);
  }
}

bool Cache::IsAssumedPod(const Pod& pod) const {
  MutexLock lock(mu_);
  const auto state = pods_.find(pod.metadata.uid);
  return state != pods_.end() && state->second.assumed;
}

std::shared_ptr<const Pod> Cache::GetPod(const Pod& pod) const {
  MutexLock lock(mu_);
  const auto state = pods_.find(pod.metadata.uid);
  return state == pods_.end() ? nullptr : state->second.pod->pod;
}

void Cache::AddPod(const std::shared_ptr<const Pod>& pod) {
  PodInfoPtr info = NewPodInfo(pod);
  MutexLock lock(mu_);
  RemovePodState(pod->metadata.uid);
  SetPod(std::move(info), /*assumed=*/false);
}

void Cache::UpdatePod(const std::shared_ptr<const Pod>& pod) { AddPod(pod); }

std::shared_ptr<const Pod> Cache::RemovePod(const Pod& pod) {
  MutexLock lock(mu_);
  return RemovePodState(pod.metadata.uid);
}

void Cache::AddNode(const std::shared_ptr<const Node>& node) {
  MutexLock lock(mu_);
  NodeInfo& info = ChangedNode(node->metadata.name);
  if (!info.has_node()) ++node_count_;
  info.SetNode(node);
}

void Cache::UpdateNode(const std::shared_ptr<const Node>& node) {
  AddNode(node);
}

void Cache::RemoveNode(const Node& node) {
  const std::string& name = node.metadata.name;
  MutexLock lock(mu_);
  NodeInfo& info = ChangedNode(name);
  if (info.has_node()) --node_count_;
  info.RemoveNode();
  RemoveIfEmpty(name);
}

void Cache::UpdateSnapshot(Snapshot& snapshot) {
  MutexLock lock(mu_);
  bool lists_change = false;
  for (const NodeInfo& node : nodes_) {
    if (node.generation() <= snapshot.generation()) break;
    if (node.has_node() && snapshot.Set(node)) lists_change = true;
  }
  snapshot.set_generation(generation_);
  // The snapshot has all nodes of the cache. If it has more, some are gone.
  if (snapshot.size() > node_count_) {
    for (const NodeInfo* node : snapshot.List()) {
      const std::string& name = node->node().metadata.name;
      const auto entry = by_name_.find(name);
      if (entry == by_name_.end() || !entry->second->has_node()) {
        snapshot.Erase(name);
      }
    }
    lists_change = true;
  }
  if (lists_change) snapshot.RebuildLists();
}

NodeInfo& Cache::ChangedNode(const std::string& name) {
  const auto [entry, added] = by_name_.try_emplace(name);
  if (added) {
    entry->second = nodes_.emplace(nodes_.begin());
  } else {
    nodes_.splice(nodes_.begin(), nodes_, entry->second);
  }
  entry->second->set_generation(++generation_);
  return *entry->second;
}

void Cache::SetPod(PodInfoPtr pod, bool assumed) {
  ChangedNode(pod->pod->spec.node_name).AddPod(pod);
  const std::string& uid = pod->pod->metadata.uid;
  pods_[uid] = {.pod = std::move(pod), .assumed = assumed};
}

std::shared_ptr<const Pod> Cache::RemovePodState(const std::string& uid) {
  const auto state = pods_.extract(uid);
  if (state.empty()) return nullptr;
  std::shared_ptr<const Pod> pod = state.mapped().pod->pod;
  ChangedNode(pod->spec.node_name).RemovePod(uid);
  RemoveIfEmpty(pod->spec.node_name);
  return pod;
}

void Cache::RemoveIfEmpty(const std::string& name) {
  const auto node = by_name_.find(name);
  if (node->second->has_node() || !node->second->pods().empty()) return;
  nodes_.erase(node->second);
  by_name_.erase(node);
}

}  // namespace minisched
