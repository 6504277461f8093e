// Pods that wait on Permit together.
#include <utility>

#include "framework/waiting_pods.h"

namespace minisched {

GroupPermit WaitingPods::PermitInGroup(const std::string& id,
                                       std::string_view plugin,
                                       const std::function<bool()>& is_complete,
                                       const Executor::Task& freed) {
  MutexLock lock(mu_);
  const auto [group, is_new] = groups_.try_emplace(id, Group{plugin, {freed}});
  if (group->second.rejection) return GroupPermit::kRejected;
  if (!is_complete()) return is_new ? GroupPermit::kFirst : GroupPermit::kWaits;
  const auto allowed = groups_.extract(group);
  for (const std::string& uid : allowed.mapped().pods) {
    Wait* wait = Find(uid);
    wait->group.clear();
    Allow(wait, plugin);
  }
  return GroupPermit::kAllowed;
}

void WaitingPods::Join(Wait& wait) {
  const auto group = groups_.find(wait.group);
  if (group == groups_.end()) return;  // the pod waits on its own
  group->second.pods.insert(wait.pod.pod->metadata.uid);
  if (group->second.rejection) End(wait, *group->second.rejection);
}

void WaitingPods::EndInGroup(const Wait& wait) {
  const auto group = groups_.find(wait.group);
  if (group == groups_.end()) return;
  if (!wait.result->IsSuccess()) return Reject(group->second, *wait.result);
  group->second.pods.erase(wait.pod.pod->metadata.uid);
}

void WaitingPods::RejectGroup(const std::string& id) {
  MutexLock lock(mu_);
  const auto group = groups_.find(id);
  if (group != groups_.end()) Reject(group->second, Code::kUnschedulable);
}

void WaitingPods::Reject(Group& group, const Status& cause) {
  if (group.rejection) return;
  // If the cause is not about the group, as after the deletion of one pod, the
  // others get the message of scheduler-plugins.
  group.rejection = cause.plugin() == group.plugin
                        ? cause
                        : Status(Code::kUnschedulable, "rejection in Unreserve")
                              .WithPlugin(group.plugin);
  for (const std::string& uid : group.pods) {
    End(waits_.at(uid), *group.rejection);
  }
  if (!group.pods.empty()) return;
  executor_.Post(std::exchange(group.go_on, {}).front());  // `freed`
}

CallbackResult<void> WaitingPods::RemoveWithGroup(const Pod& pod) {
  return CallbackResult<void>(
      [this, uid = pod.metadata.uid](Executor::Task go_on) {
        std::vector<Executor::Task> tasks;
        {
          MutexLock lock(mu_);
          Group alone;
          const auto wait = waits_.extract(uid);
          const auto found = groups_.find(wait ? wait.mapped().group : "");
          Group& group = found == groups_.end() ? alone : found->second;
          group.pods.erase(uid);
          group.go_on.push_back(std::move(go_on));
          if (group.pods.empty()) tasks = std::exchange(group.go_on, {});
        }
        for (const Executor::Task& task : tasks) task();
      });
}

bool WaitingPods::IsGroupRejected(const std::string& id) const {
  MutexLock lock(mu_);
  const auto group = groups_.find(id);
  return group != groups_.end() && group->second.rejection;
}

void WaitingPods::RemoveGroup(const std::string& id) {
  MutexLock lock(mu_);
  groups_.erase(id);
}

std::vector<std::string> WaitingPods::WaitingGroups() const {
  std::vector<std::string> ids;
  MutexLock lock(mu_);
  for (const auto& [id, group] : groups_) {
    if (!group.rejection) ids.push_back(id);
  }
  return ids;
}

}  // namespace minisched
