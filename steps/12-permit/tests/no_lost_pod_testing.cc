#include "tests/no_lost_pod_testing.h"

#include <fmt/format.h>

#include <chrono>
#include <set>
#include <variant>

namespace minisched {
namespace {

// Where pods are, by their uids.
struct Whereabouts {
  std::map<std::string, std::vector<Place>> places;
  std::set<std::string> in_flight;
  std::map<std::string, std::string> assumed;  // nodes

  std::string Text(const std::string& uid) {
    std::string text;
    for (const Place place : places[uid]) {
      text +=
          fmt::format("{}{}", text.empty() ? "" : " and ", PlaceName(place));
    }
    return text.empty() ? "nowhere" : text;
  }
};

Whereabouts FindPods(Scheduler& scheduler, Fate& fate) {
  Whereabouts found;
  const auto queued =
      SchedulingQueuePeer::Read(SchedulerPeer::Queue(scheduler));
  const auto add = [&](const std::vector<QueuedPodInfo>& infos, Place place) {
    for (const QueuedPodInfo& info : infos) {
      found.places[info.pod->metadata.uid].push_back(place);
    }
  };
  add(queued.active, Place::kActive);
  add(queued.backoff, Place::kBackoff);
  add(queued.unschedulable, Place::kUnschedulable);
  add(queued.gated, Place::kGated);
  found.in_flight = {queued.in_flight.begin(), queued.in_flight.end()};
  const WaitingPods& pods = SchedulerPeer::GetWaitingPods(scheduler);
  pods.IterateOverWaitingPods([&](const WaitingPod& waiting) {
    const std::string& uid = waiting.pod->metadata.uid;
    found.places[uid].push_back(Place::kWaiting);
    found.assumed[uid] = waiting.node_name;
  });
  for (const auto& [uid, node] : fate.HeldPods()) {
    found.places[uid].push_back(Place::kAssumed);
    found.assumed[uid] = node;
  }
  return found;
}

// Returns the fault of one pod of the server, or "".
std::string FindFault(const Pod& pod, Whereabouts& found,
                      LastRecords& records) {
  const std::string& uid = pod.metadata.uid;
  const std::string where = found.Text(uid);
  if (!pod.spec.node_name.empty()) {
    return where == "nowhere" ? "" : "a bound pod is " + where;
  }
  if (pod.metadata.deletion_timestamp) {
    return where == "waiting" ? "a pod that is being deleted is waiting" : "";
  }
  if (found.places[uid].size() != 1) return "a pending pod is " + where;
  const bool waits = where == PlaceName(Place::kWaiting);
  if (found.in_flight.contains(uid) != waits) {
    return waits ? "a waiting pod is not in flight"
                 : "in flight besides " + where;
  }
  const std::string_view traced = PlaceName(records.Of(uid).place);
  if (traced != where) return fmt::format("{}, in trace {}", where, traced);
  return "";
}

// Returns the pods that count on each node, by the node's name.
std::map<std::string, std::vector<std::shared_ptr<const Pod>>> PodsOfNodes(
    const ServerObjects& server, const Whereabouts& found) {
  std::map<std::string, std::vector<std::shared_ptr<const Pod>>> pods;
  for (const auto& [name, pod] : server.pods) {
    if (!pod->spec.node_name.empty()) {
      pods[pod->spec.node_name].push_back(pod);
    } else if (!pod->metadata.deletion_timestamp) {
      const auto assumed = found.assumed.find(pod->metadata.uid);
      if (assumed != found.assumed.end()) pods[assumed->second].push_back(pod);
    }
  }
  return pods;
}

// Returns the faults of the cache.
std::string FindCacheFaults(Scheduler& scheduler, const ServerObjects& server,
                            const Whereabouts& found) {
  std::string faults;
  Snapshot snapshot;
  SchedulerPeer::UpdateSnapshot(scheduler, snapshot);
  if (snapshot.List().size() != server.nodes.size()) {
    faults += fmt::format("{} nodes in the cache, {} on the server\n",
                          snapshot.List().size(), server.nodes.size());
  }
  auto pods = PodsOfNodes(server, found);
  for (const NodeInfo* node : snapshot.List()) {
    const std::string& name = node->node().metadata.name;
    Amount milli_cpu = 0;
    for (const auto& pod : pods[name]) {
      milli_cpu += NewPodInfo(pod)->requests.milli_cpu;
    }
    if (node->pods().size() != pods[name].size() ||
        node->requested().milli_cpu != milli_cpu) {
      faults +=
          fmt::format("{}: {} pods and {}m in the cache, not {} and {}m\n",
                      name, node->pods().size(), node->requested().milli_cpu,
                      pods[name].size(), milli_cpu);
    }
    if (milli_cpu > node->allocatable().milli_cpu) {
      faults += fmt::format("{} is overcommitted\n", name);
    }
  }
  return faults;
}

}  // namespace

int Fate::Below(int end) {
  MutexLock lock(mu_);
  return static_cast<int>(random_() % end);
}

void Fate::BeKind() {
  MutexLock lock(mu_);
  kind_ = true;
}

bool Fate::is_kind() {
  MutexLock lock(mu_);
  return kind_;
}

Status Fate::Reserve() {
  MutexLock lock(mu_);
  if (kind_ || random_() % 20 > 0) return {};
  return {Code::kUnschedulable, "no volume"};
}

Status Fate::Permit(Clock::Duration& timeout) {
  MutexLock lock(mu_);
  if (kind_) return {};
  const auto roll = random_() % 100;
  timeout = std::chrono::seconds(random_() % 10);
  if (roll < 50) return {};
  if (roll < 90) return Code::kWait;
  return {roll < 95 ? Code::kUnschedulable : Code::kError, "bad luck"};
}

void Fate::PreBind(HeldPreBind pod) {
  Status status;
  {
    MutexLock lock(mu_);
    const auto roll = kind_ ? 0 : random_() % 100;
    if (roll >= 75) {
      held_.push_back(std::move(pod));
      return;
    }
    if (roll >= 65) status = {Code::kError, "disk full"};
  }
  pod.done(status);
}

std::vector<std::pair<std::string, std::string>> Fate::HeldPods() {
  MutexLock lock(mu_);
  std::vector<std::pair<std::string, std::string>> pods;
  for (const HeldPreBind& pod : held_) pods.emplace_back(pod.uid, pod.node);
  return pods;
}

HeldPreBind Fate::TakeHeld() {
  MutexLock lock(mu_);
  std::swap(held_[random_() % held_.size()], held_.back());
  HeldPreBind pod = std::move(held_.back());
  held_.pop_back();
  return pod;
}

void Fate::DropHeld() {
  std::vector<HeldPreBind> dropped;  // destroyed without the lock
  MutexLock lock(mu_);
  dropped.swap(held_);
}

std::shared_ptr<void> Fate::BeginCycle() {
  ++cycles_;
  return {this, [this](void*) { --cycles_; }};
}

Status Chance::Reserve(CycleState& state, const Pod& /*pod*/,
                       const std::string& /*node_name*/) {
  state.Write(fate_.BeginCycle());
  return fate_.Reserve();
}

Status Chance::Permit(CycleState& /*state*/, const Pod& /*pod*/,
                      const std::string& /*node_name*/,
                      Clock::Duration& timeout) {
  during_permit_();
  return fate_.Permit(timeout);
}

void Chance::PreBind(CycleState& /*state*/, const Pod& pod,
                     const std::string& node_name,
                     const std::stop_token& /*stop*/,
                     StatusCallback done) const {
  fate_.PreBind({pod.metadata.uid, node_name, std::move(done)});
}

std::string FindFaults(Scheduler& scheduler, const ServerObjects& server,
                       LastRecords& records, Fate& fate) {
  std::string faults;
  Whereabouts found = FindPods(scheduler, fate);
  records.Poll();
  std::set<std::string> uids;
  for (const auto& [name, pod] : server.pods) {
    uids.insert(pod->metadata.uid);
    const std::string fault = FindFault(*pod, found, records);
    if (!fault.empty()) faults += fmt::format("{}: {}\n", name, fault);
  }
  for (const auto& [uid, places] : found.places) {
    // A held pod stays held when it is deleted.
    if (uids.contains(uid) || places == std::vector{Place::kAssumed}) continue;
    faults += fmt::format("a deleted pod is {}\n", found.Text(uid));
  }
  for (const std::string& uid : found.in_flight) {
    if (!found.assumed.contains(uid)) faults += uid + " stays in flight\n";
  }
  if (found.in_flight.empty() &&
      SchedulingQueuePeer::CountChanges(SchedulerPeer::Queue(scheduler)) > 0) {
    faults += "the queue keeps events although no pod is in flight\n";
  }
  return faults + FindCacheFaults(scheduler, server, found);
}

}  // namespace minisched
