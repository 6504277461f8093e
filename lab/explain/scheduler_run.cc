#include "lab/explain/scheduler_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "lab/apiserver/object.h"
#include "lab/explain/errors.h"
#include "lab/live/line_tail.h"
#include "lab/scenario/child_process.h"
#include "lab/scenario/errors.h"
#include "lab/scenario/temporary_directory.h"
#include "minisched/api/conditions.h"

namespace minisched::explain {
namespace {

using apiserver::Dump;
using apiserver::Get;
using apiserver::GetString;
using apiserver::Json;

constexpr std::chrono::milliseconds kPoll{2};
// How often the pod is read, for a scheduler without records.
constexpr std::chrono::milliseconds kReadPod{100};
constexpr std::chrono::seconds kGrace{5};
// A scheduler that waits for volumes may go on waiting until kGrace is over.
constexpr std::chrono::milliseconds kGraceOfWait{100};
constexpr std::size_t kLogLines = 5;

// Returns the names of the claims of the pod's volumes.
std::vector<std::string> ClaimsOf(const Pod& pod) {
  std::vector<std::string> claims;
  for (const Volume& volume : pod.spec.volumes) {
    if (volume.persistent_volume_claim) {
      claims.push_back(volume.persistent_volume_claim->claim_name);
    } else if (volume.ephemeral) {
      claims.push_back(pod.metadata.name + "-" + volume.name);
    }
  }
  return claims;
}

// Follows what happens to one pod.
class Follower {
 public:
  // `start` is the resourceVersion of the list of pods before the run.
  Follower(scenario::Cluster& cluster, const Pod& pod, std::string start,
           const std::string& record, const std::stop_token& stop)
      : cluster_(cluster),
        pod_(pod),
        start_(std::move(start)),
        record_(record),
        claims_(ClaimsOf(pod)),
        volume_updates_(VolumeUpdates(stop)) {}

  // Reads the pod of a scheduler that writes no records, or whether a scheduler
  // that does waits for the pod's volumes.
  void Poll(Clock::TimePoint now, const std::stop_token& stop) {
    if (done_ || now < next_read_) return;
    next_read_ = now + kReadPod;
    if (!HasRecording()) return ReadPod(stop);
    // Nothing in the copy binds the volumes, so the pod is never bound.
    if (!assumed_.empty() && VolumeUpdates(stop) != volume_updates_) {
      outcome_.node = assumed_;
      done_ = outcome_.waits_for_volumes = true;
    }
  }

  // Reads a line of the recording that may be about the pod.
  void Read(const Json& line) {
    if (done_ || !line.is_object() || !line.contains("sequence")) return;
    const std::string program = GetString(line, "scheduler", "program");
    if (!program.empty()) outcome_.program = program;
    const std::string& uid = pod_.metadata.uid;
    if (GetString(line, "attempt", "uid") == uid) ReadAttempt(line["attempt"]);
    if (GetString(line, "pod", "uid") == uid) ReadPlace(line["pod"]);
  }

  bool done() const { return done_; }
  const Outcome& outcome() const { return outcome_; }

 private:
  void ReadAttempt(const Json& attempt) {
    outcome_.attempt = attempt;
    outcome_.sentence = GetString(attempt, "failure");
    for (const Json& point : Get(attempt, "points")) {
      const bool nominates = GetString(point, "point") == "PostFilter" &&
                             GetString(point, "status") == "Success";
      if (nominates) outcome_.nominated = GetString(point, "message");
    }
    // The attempt ends with its binding cycle, or with a failure before.
    done_ = !outcome_.sentence.empty();
  }

  void ReadPlace(const Json& pod) {
    const std::string place = GetString(pod, "place");
    assumed_ = place == "assumed" ? GetString(pod, "node") : "";
    if (place == "bound") {
      outcome_.node = GetString(pod, "node");
      done_ = true;
    } else if (place == "gated" && outcome_.attempt.is_null()) {
      outcome_.sentence = "gated by " + Dump(Get(pod, "plugins"));
      done_ = true;
    }
  }

  // A scheduler makes the recording before it takes a pod. The records may come
  // after the Binding.
  bool HasRecording() const { return std::filesystem::exists(record_); }

  void ReadPod(const std::stop_token& stop) {
    const std::string& ns = pod_.metadata.namespace_name;
    const std::string& name = pod_.metadata.name;
    // Read before the pod, which then shows a failure that came first.
    const bool waits_for_volumes = VolumeUpdates(stop) != volume_updates_;
    const auto pod = cluster_.client().Get<Pod>(ns, name, stop);
    if (HasRecording()) return;  // it has begun since
    ReadStatus(*pod);
    if (!done_) {
      if (waits_for_volumes) ReadSelectedNode(*pod, stop);
      return;
    }
    // The outcome may be that of a later attempt: if pods were evicted for this
    // one, it is bound soon. So its changes are read again from the start.
    auto changes =
        cluster_.client().Watch<Pod>({.namespace_name = ns,
                                      .field_selector = "metadata.name=" + name,
                                      .resource_version = start_},
                                     stop);
    for (done_ = false; !done_;) {
      const auto change = changes.Next();
      ReadStatus(change && change->object ? *change->object : *pod);
    }
  }

  void ReadStatus(const Pod& pod) {
    outcome_.node = pod.spec.node_name;
    const Condition* const scheduled =
        FindCondition(pod.status.conditions, "PodScheduled");
    // A condition may be from before the run: the server sets one for a pod
    // with gates, and --what-if may have removed the gates.
    const Condition* const before =
        FindCondition(pod_.status.conditions, "PodScheduled");
    const bool is_old = scheduled != nullptr && before != nullptr &&
                        scheduled->message == before->message;
    const bool failed =
        scheduled != nullptr && scheduled->status == "False" && !is_old;
    outcome_.sentence = failed ? scheduled->message : "";
    // A node that was nominated before the run shows no preemption: a failure
    // leaves it there.
    const std::string& nominated = pod.status.nominated_node_name;
    const bool is_new = nominated != pod_.status.nominated_node_name;
    outcome_.nominated = failed && is_new ? nominated : "";
    done_ = !outcome_.node.empty() || !outcome_.sentence.empty();
  }

  // Returns the number of changes of volumes and claims, or 0 for a pod without
  // claims. Includes updates that change nothing: kube-scheduler sends one to a
  // claim that has the node from before the run.
  int VolumeUpdates(const std::stop_token& stop) {
    int updates = 0;
    if (claims_.empty()) return updates;
    for (const auto& [verb, resource, count] :
         cluster_.Requests(scenario::Cluster::IfAway::kThrow, stop)) {
      const bool is_volume = resource == "persistentvolumes" ||
                             resource == "persistentvolumeclaims";
      const bool is_change = verb == "update" || verb == "patch";
      if (is_volume && is_change) updates += count;
    }
    return updates;
  }

  // Reads the node that the scheduler has selected for the pod and its volumes.
  // Nothing in the copy makes or binds the volumes, so the pod is never bound.
  void ReadSelectedNode(const Pod& pod, const std::stop_token& stop) {
    for (const std::string& name : claims_) {
      const auto text =
          cluster_.Get({.kind = "PersistentVolumeClaim", .name = name},
                       pod.metadata.namespace_name, stop);
      const Json claim = Json::parse(text.value_or("{}"));
      if (!GetString(claim, "spec", "volumeName").empty()) continue;
      outcome_.node = GetString(claim, "metadata", "annotations",
                                "volume.kubernetes.io/selected-node");
      if (!outcome_.node.empty()) break;
    }
    // A claim that gets an existing volume has no such annotation. But since
    // 1.35, kube-scheduler nominates the node before it writes the volume.
    const std::string& nominated = pod.status.nominated_node_name;
    if (outcome_.node.empty() && nominated != pod_.status.nominated_node_name) {
      outcome_.node = nominated;
    }
    done_ = outcome_.waits_for_volumes = !outcome_.node.empty();
  }

  scenario::Cluster& cluster_;
  const Pod& pod_;
  const std::string start_;
  const std::string record_;
  const std::vector<std::string> claims_;
  const int volume_updates_;  // before the scheduler runs
  std::string assumed_;       // the node on which the pod is assumed
  bool done_ = false;
  Clock::TimePoint next_read_{};
  Outcome outcome_;
};

// Follows what happens to several pods.
class Followers {
 public:
  Followers(scenario::Cluster& cluster, const Pods& pods,
            const std::string& start, const std::string& record,
            const std::stop_token& stop)
      : record_(record), tail_(record) {
    for (const auto& pod : pods) {
      uids_[pod->metadata.uid] = followers_.size();
      followers_.push_back(
          std::make_unique<Follower>(cluster, *pod, start, record, stop));
    }
  }

  // Returns true once all pods have an outcome.
  bool Poll(Clock::TimePoint now, const std::stop_token& stop) {
    tail_.Poll([this](const std::string& line, const std::string&) {
      ReadLine(line);
    });
    for (const auto& follower : followers_) follower->Poll(now, stop);
    return std::ranges::all_of(
        followers_, [](const auto& follower) { return follower->done(); });
  }

  // Returns the first pod without an outcome.
  const Pod& FirstUndone(const Pods& pods) const {
    const auto undone = std::ranges::find_if(
        followers_, [](const auto& follower) { return !follower->done(); });
    return *pods[undone - followers_.begin()];
  }

  std::vector<Outcome> outcomes() const {
    std::vector<Outcome> outcomes;
    for (const auto& follower : followers_) {
      outcomes.push_back(follower->outcome());
    }
    return outcomes;
  }

 private:
  // Most lines are about other objects. Parsing them would take seconds.
  void ReadLine(const std::string& line) {
    const auto parse = [&] {
      return Json::parse(line, nullptr, /*allow_exceptions=*/false);
    };
    if (line.find("\"program\"") != line.npos) {
      const Json json = parse();
      for (const auto& follower : followers_) follower->Read(json);
      return;
    }
    constexpr std::string_view kKey = "\"uid\"";
    for (auto at = line.find(kKey); at != line.npos; at = line.find(kKey, at)) {
      const auto begin = line.find('"', at + kKey.size());
      if (begin == line.npos) return;
      at = line.find('"', begin + 1);
      const auto found = uids_.find(line.substr(begin + 1, at - begin - 1));
      if (found == uids_.end()) continue;
      followers_[found->second]->Read(parse());
      return;
    }
  }

  const std::string record_;
  live::LineTail tail_;
  std::vector<std::unique_ptr<Follower>> followers_;
  std::map<std::string, std::size_t> uids_;  // positions in followers_
};

// Returns "\n" and the last lines of the scheduler's log, if there are any.
std::string Log(const std::string& file) {
  std::string lines = scenario::LastLines(file, kLogLines);
  while (!lines.empty() && lines.back() == '\n') lines.pop_back();
  return lines.empty() ? "it has logged nothing"
                       : "the last lines of its log:\n" + lines;
}

}  // namespace

Outcome RunScheduler(scenario::Cluster& cluster, const std::string& kubeconfig,
                     const SchedulerCommand& command, const Pod& pod,
                     Clock::TimePoint deadline, const std::stop_token& stop,
                     const std::function<void(const Outcome&)>& before_stop) {
  // The pod outlives the run.
  const Pods pods = {std::shared_ptr<const Pod>(std::shared_ptr<void>(), &pod)};
  const auto first = [&](const std::vector<Outcome>& outcomes) {
    if (before_stop) before_stop(outcomes[0]);
  };
  return RunScheduler(cluster, kubeconfig, command, pods, deadline, stop,
                      first)[0];
}

std::vector<Outcome> RunScheduler(
    scenario::Cluster& cluster, const std::string& kubeconfig,
    const SchedulerCommand& command, const Pods& pods,
    Clock::TimePoint deadline, const std::stop_token& stop,
    const std::function<void(const std::vector<Outcome>&)>& before_stop) {
  const std::string& scheduler_name = pods[0]->spec.scheduler_name;
  const scenario::TemporaryDirectory directory("minisched-explain");
  const std::string log = directory.path() / "log";
  const std::string config = directory.path() / "kubeconfig";
  const std::string record = directory.path() / "record";
  std::ofstream(config) << kubeconfig;
  // The version of the pod itself may be too old for a watch: the server keeps
  // only the last changes.
  const auto page = cluster.client().ListPage<Pod>({.limit = 1}, stop);
  Followers followers(cluster, pods, page.metadata.resource_version, record,
                      stop);
  scenario::ChildProcess process(
      ToShell(command, {.kubeconfig = config, .scheduler_name = scheduler_name},
              directory.path() / "scheduler.json"),
      {{"KUBECONFIG", config},
       {"SCHEDULER_NAME", scheduler_name},
       {"RECORD", record}},
      log);
  Clock& clock = RealClock();
  while (true) {
    const auto ended = process.Ended();
    if (followers.Poll(clock.Now(), stop)) {
      if (before_stop) before_stop(followers.outcomes());
      auto outcomes = followers.outcomes();
      const bool waits =
          std::ranges::any_of(outcomes, &Outcome::waits_for_volumes);
      process.Stop(waits ? kGraceOfWait : kGrace);
      return outcomes;
    }
    if (ended) {
      throw CannotTell(
          fmt::format("the scheduler ended with {}; {}", *ended, Log(log)));
    }
    if (clock.Now() > deadline) {
      throw CannotTell(fmt::format(
          "the scheduler has made no attempt at {} in time: its command must "
          "schedule pods with the schedulerName \"{}\"; {}",
          ObjectName(followers.FirstUndone(pods).metadata), scheduler_name,
          Log(log)));
    }
    if (!clock.SleepFor(kPoll, stop)) throw Cancelled();
  }
}

}  // namespace minisched::explain
