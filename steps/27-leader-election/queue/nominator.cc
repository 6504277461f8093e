#include "queue/nominator.h"

#include <memory>
#include <utility>

namespace minisched {

std::string Nominator::Nominate(const Pod& pod, const std::string& node) {
  const std::string& uid = pod.metadata.uid;
  PodInfoPtr info;
  if (!node.empty()) info = NewPodInfo(std::make_shared<const Pod>(pod));
  MutexLock lock(mu_);
  std::string before;
  if (auto nomination = nodes_.extract(uid)) {
    before = std::move(nomination.mapped());
    std::vector<PodInfoPtr>& pods = pods_.at(before);
    std::erase_if(pods, [&](const PodInfoPtr& nominated) {
      return nominated->pod->metadata.uid == uid;
    });
    if (pods.empty()) pods_.erase(before);
  }
  if (info) {
    nodes_.emplace(uid, node);
    pods_[node].push_back(std::move(info));
  }
  return before;
}

std::string Nominator::NominatedNode(const Pod& pod) const {
  MutexLock lock(mu_);
  const auto nomination = nodes_.find(pod.metadata.uid);
  return nomination == nodes_.end() ? "" : nomination->second;
}

std::vector<PodInfoPtr> Nominator::NominatedPodsForNode(
    const std::string& node) const {
  MutexLock lock(mu_);
  const auto pods = pods_.find(node);
  return pods == pods_.end() ? std::vector<PodInfoPtr>{} : pods->second;
}

}  // namespace minisched
