#include "lab/explain/explainer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <chrono>
#include <utility>

#include "lab/apiserver/object.h"
#include "lab/explain/causes.h"
#include "lab/explain/claims.h"
#include "lab/explain/daemon_answer.h"
#include "lab/explain/device_classes.h"
#include "lab/explain/errors.h"
#include "lab/explain/rules.h"
#include "lab/explain/suggestions.h"
#include "lab/explain/victims.h"
#include "lab/scenario/errors.h"
#include "minisched/api/pod_preemption.h"

namespace minisched::explain {
namespace {

using apiserver::Get;
using apiserver::GetInt;
using apiserver::GetString;
using apiserver::Json;

constexpr std::chrono::seconds kMaxAttempt{60};
constexpr std::size_t kMaxTrials = 12;
constexpr std::size_t kMaxPairs = 8;
constexpr std::size_t kMaxHelpful = 5;

// The reason of kube-scheduler's plugin VolumeBinding.
constexpr char kNoVolume[] =
    "node(s) didn't find available persistent volumes to bind";

// Throws CannotTell that the scheduler does not support something.
[[noreturn]] void FailUnsupported(const std::string& program,
                                  std::string message) {
  constexpr std::string_view kPrefix = "not supported by this scheduler: ";
  if (message.starts_with(kPrefix)) message.erase(0, kPrefix.size());
  throw CannotTell(
      fmt::format("can't tell: {} does not support {}", program, message));
}

// Counts the pods of the pod's group: the cause of Coscheduling's rejections.
std::vector<std::string> GroupCauses(Trial& trial, const std::string& reason,
                                     const std::stop_token& stop) {
  const Labels& labels = trial.pod().metadata.labels;
  const auto name = labels.find(kPodGroupLabel);
  if (name == labels.end()) return {reason};
  const auto members = trial.client().List<Pod>(
      {.namespace_name = trial.pod().metadata.namespace_name,
       .label_selector = fmt::format("{}={}", kPodGroupLabel, name->second)},
      stop);
  const auto minimum =
      labels.find("pod-group.scheduling.sigs.k8s.io/min-available");
  return {fmt::format("{}: the group {} has {} of at least {} pods", reason,
                      name->second, members.items.size(),
                      minimum == labels.end() ? "?" : minimum->second)};
}

// Throws CannotTell if the claims of a new pod may be bound at once.
void CheckCertain(const ClaimProblem& problem) {
  if (problem.is_certain) return;
  throw CannotTell(fmt::format(
      "can't tell: {}, and controllers have had no time for it: explain the "
      "pod once it exists",
      fmt::join(problem.causes, ", ")));
}

Rejection ToRejection(const ClaimProblem& problem) {
  return {problem.plugin, {problem.reason}, problem.causes};
}

// Replaces the rejection by a plugin that does not support some claims with
// those that follow from the claims and the volumes. Throws CannotTell if there
// are none.
void AddUnsupported(const Outcome& outcome, const std::string& message,
                    Trial& trial, const NodeStates& nodes, const Rules& rules,
                    Answer& answer) {
  if (const auto problem = rules.volumes.Problem(trial.is_new())) {
    CheckCertain(*problem);
    boost::replace_first(answer.sentence, message, problem->reason);
    answer.pod_rejections.push_back(ToRejection(*problem));
    return;
  }
  const DelayedClaims& delayed = rules.volumes.delayed();
  if (delayed.empty()) FailUnsupported(outcome.program, message);
  for (const auto& [name, node] : nodes) {
    auto causes = rules.volumes.CausesOf(node.node, "VolumeBinding");
    if (causes.empty()) {
      FailUnsupported(
          outcome.program,
          fmt::format("{}: on {}, {}; pass kube-scheduler as --scheduler",
                      message, name, delayed.Possible(node.node)));
    }
    answer.rejected.push_back(
        {name, {{"VolumeBinding", {kNoVolume}, std::move(causes)}}});
  }
  boost::replace_first(answer.sentence, message,
                       fmt::format("{} {}", nodes.size(), kNoVolume));
}

}  // namespace

void AddPodRejections(const Outcome& outcome, Trial& trial,
                      const NodeStates& nodes, const Rules& rules,
                      Answer& answer, const std::stop_token& stop) {
  const auto problem = rules.volumes.Problem(trial.is_new());
  const auto is_problem = [&](const std::string& message) {
    return problem && message.find(problem->reason) != message.npos;
  };
  if (outcome.attempt.is_null() && is_problem(outcome.sentence)) {
    CheckCertain(*problem);
    answer.pod_rejections.push_back(ToRejection(*problem));
  }
  for (const Json& point : Get(outcome.attempt, "points")) {
    if (!GetString(point, "status").starts_with("Unschedulable")) continue;
    // A PostFilter plugin that finds no node rejects nothing, and its message
    // is in the sentence.
    if (GetString(point, "point") == "PostFilter") continue;
    Rejection rejection{.plugin = GetString(point, "plugin"),
                        .reasons = {GetString(point, "message")}};
    if (rejection.plugin == "Unsupported") {
      AddUnsupported(outcome, rejection.reasons[0], trial, nodes, rules,
                     answer);
      continue;
    }
    rejection.causes = rejection.plugin == "Coscheduling"
                           ? GroupCauses(trial, rejection.reasons[0], stop)
                           : rejection.reasons;
    if (is_problem(rejection.reasons[0])) {
      CheckCertain(*problem);
      rejection = ToRejection(*problem);
    }
    answer.pod_rejections.push_back(std::move(rejection));
  }
}

void AddRejected(const Outcome& outcome, const Pod& pod,
                 const NodeStates& nodes, const Rules& rules, Answer& answer) {
  for (const Json& item : Get(outcome.attempt, "rejected")) {
    RejectedNode& rejected = answer.rejected.emplace_back();
    rejected.node = GetString(item, "node");
    const auto node = nodes.find(rejected.node);
    for (const Json& one : Get(item, "rejections")) {
      Rejection& rejection = rejected.rejections.emplace_back();
      rejection.plugin = GetString(one, "plugin");
      rejection.reasons = one.value("reasons", std::vector<std::string>());
      if (node == nodes.end()) {
        rejection.causes = rejection.reasons;
        continue;
      }
      rejection.causes = rules.CausesOf(node->second.node, rejection.plugin);
      if (!rejection.causes.empty()) continue;
      rejection.causes =
          CausesOf(pod, node->second, rejection.plugin, rejection.reasons);
    }
  }
  std::ranges::stable_sort(answer.rejected, {}, [](const RejectedNode& node) {
    return node.rejections.size();
  });
}

namespace {

void AddScores(const Outcome& outcome, Answer& answer) {
  const Json& fits = Get(outcome.attempt, "fits");
  for (std::size_t i = 0; i < fits.size(); ++i) {
    ScoredNode& node = answer.scores.emplace_back();
    node.node = fits[i];
    for (const Json& column : Get(outcome.attempt, "scores")) {
      const std::int64_t score =
          Get(column, "normalized")[i].get<std::int64_t>() *
          GetInt(column, "weight");
      node.scores.emplace_back(GetString(column, "plugin"), score);
      node.total += score;
    }
  }
  std::ranges::stable_sort(answer.scores, std::greater(), &ScoredNode::total);
}

Answer GatedAnswer(const Pod& pod) {
  std::vector<std::string> gates;
  for (const auto& gate : pod.spec.scheduling_gates) {
    gates.push_back(gate.name);
  }
  return {.state = State::kGated,
          .sentence =
              fmt::format("{} waits for its scheduling gates: {}",
                          ObjectName(pod.metadata), fmt::join(gates, ", "))};
}

Answer AnswerOf(const Outcome& outcome, const Pod& pod) {
  Answer answer;
  answer.node = outcome.node;
  answer.all_nodes = static_cast<int>(GetInt(outcome.attempt, "allNodes"));
  answer.feasible_nodes =
      static_cast<int>(GetInt(outcome.attempt, "feasibleNodes"));
  if (!outcome.node.empty()) {
    answer.sentence = fmt::format("{} fits, and gets {}",
                                  ObjectName(pod.metadata), outcome.node);
    if (answer.all_nodes > 0) {
      answer.sentence = fmt::format(
          "{} fits {} of {} nodes, and gets {}", ObjectName(pod.metadata),
          answer.feasible_nodes, answer.all_nodes, outcome.node);
    }
    return answer;
  }
  answer.sentence = outcome.sentence;
  answer.state =
      answer.feasible_nodes > 0 ? State::kNotBound : State::kUnschedulable;
  if (answer.feasible_nodes > 0) {
    answer.node = GetString(outcome.attempt, "node");
  }
  if (!outcome.nominated.empty()) {
    answer.state = State::kPreempts;
    answer.node = outcome.nominated;
  }
  if (outcome.attempt.is_null()) {
    answer.warnings.push_back(
        "there is no table, because the scheduler has written no records to "
        "$RECORD");
  }
  return answer;
}

void AddVictims(Victims victims, Answer& answer) {
  answer.victims = std::move(victims.pods);
  if (victims.is_complete) return;
  answer.warnings.push_back(
      "the scheduler did not evict enough pods in time: the list of evicted "
      "pods may be incomplete, or name the wrong ones");
}

// Warns about nodes that the scheduler did not need to check, and about a table
// that the trace has cut off.
void CheckComplete(std::size_t nodes, Answer& answer) {
  const auto checked = static_cast<std::size_t>(answer.all_nodes);
  if (answer.feasible_nodes > 0 && checked > 0 && checked < nodes) {
    answer.warnings.push_back(
        fmt::format("the scheduler checked {} of {} nodes, which was enough",
                    checked, nodes));
  }
  const auto shown =
      static_cast<int>(answer.scores.size() + answer.rejected.size());
  if (shown > 0 && shown < answer.all_nodes) {
    answer.warnings.push_back(
        fmt::format("the table has {} of {} nodes: a trace keeps no more",
                    shown, answer.all_nodes));
  }
}

// Warns about other pods whose anti-affinity the scheduler ignores.
void CheckAntiAffinity(const Outcome& outcome, int pods, Answer& answer) {
  const Json& filters = Get(outcome.attempt, "filters");
  const bool has_plugin =
      std::ranges::find(filters, "InterPodAffinity") != filters.end();
  if (pods > 0 && !filters.empty() && !has_plugin) {
    answer.warnings.push_back(
        fmt::format("pods with required pod anti-affinity: {}. {} ignores what "
                    "they require of this pod",
                    pods, outcome.program));
  }
}

// Returns the node that the pod gets after a change. Returns "" if there is
// none, or if the server refuses the change.
std::string NodeAfter(const Experiment& experiment, const Change& change,
                      Clock::TimePoint deadline, const std::stop_token& stop) {
  try {
    Trial trial(experiment, scenario::ParseSteps(change.step, change.text),
                stop);
    return trial.Run(deadline, stop).node;
  } catch (const RefusedStep&) {
    return "";
  }
}

// Plays changes until enough of them have helped, and adds those to the
// answer. Returns how many were tried. Tries at most `most` changes.
std::size_t PlayChanges(const Experiment& experiment,
                        std::vector<Change> changes, std::size_t most,
                        Clock::TimePoint deadline, std::chrono::seconds time,
                        Answer& answer, const std::stop_token& stop) {
  const auto is_late = [&] { return RealClock().Now() >= deadline; };
  std::vector<Change>& helpful = answer.suggestions;
  std::size_t tried = 0;
  std::size_t failed = 0;
  std::string first_error;
  const std::size_t all = std::min(changes.size(), most);
  for (; tried < all && helpful.size() < kMaxHelpful && !is_late(); ++tried) {
    Change& change = changes[tried];
    experiment.begin(
        fmt::format("trying change {} of {}: {}", tried + 1, all, change.text));
    try {
      change.node = NodeAfter(experiment, change, deadline, stop);
      if (!change.node.empty()) helpful.push_back(std::move(change));
    } catch (const std::runtime_error& error) {
      if (is_late()) break;  // there was no time left for it
      if (failed++ == 0) first_error = error.what();
    }
  }
  if (failed > 0) {
    answer.warnings.push_back(fmt::format(
        "{} of {} changes could not be tried: {}", failed, all, first_error));
  }
  if (tried < all && helpful.size() < kMaxHelpful) {
    answer.warnings.push_back(
        fmt::format("{} of {} changes were not tried, because the {} s for "
                    "suggestions were over",
                    all - tried, all, time.count()));
  }
  return tried - failed;
}

// Adds the changes that help and, if there are none, the pairs that help.
void AddSuggestions(const Experiment& experiment, Candidates found,
                    std::chrono::seconds time, Answer& answer,
                    const std::stop_token& stop) {
  const auto deadline = RealClock().Now() + time;
  Tried& tried = answer.tried.emplace();
  tried.changes = PlayChanges(experiment, std::move(found.changes), kMaxTrials,
                              deadline, time, answer, stop);
  if (!answer.suggestions.empty() || RealClock().Now() >= deadline) return;
  tried.pairs = PlayChanges(experiment, std::move(found.pairs), kMaxPairs,
                            deadline, time, answer, stop);
}

}  // namespace

Answer Explain(const Experiment& experiment, bool suggest,
               const std::stop_token& stop,
               std::chrono::seconds suggestion_time) {
  Answer answer;
  Candidates found;
  {
    experiment.begin("running the scheduler on a copy");
    Trial trial(experiment, {}, stop);
    const Pod& pod = trial.pod();
    if (!pod.spec.scheduling_gates.empty()) {
      answer = GatedAnswer(pod);
      found.changes = {GateChange(pod)};
    } else if (experiment.is_daemon_set) {
      answer = ExplainDaemonSet(trial, stop);
    } else {
      const NodeStates nodes = ReadNodes(trial.copy().server());
      apiserver::Server& server = trial.copy().server();
      const Rules rules(pod, nodes, ReadNamespaces(server),
                        ReadVolumes(server, pod));
      Victims victims;
      const Outcome outcome = trial.Run(
          RealClock().Now() + kMaxAttempt, stop, [&](const Outcome& now) {
            if (now.nominated.empty()) return;
            victims =
                AwaitVictims(experiment, trial, nodes.at(now.nominated), stop);
          });
      CheckDeviceClasses(trial, outcome);
      answer = AnswerOf(outcome, pod);
      answer.priority = PodPriority(pod);
      AddVictims(std::move(victims), answer);
      AddPodRejections(outcome, trial, nodes, rules, answer, stop);
      AddRejected(outcome, pod, nodes, rules, answer);
      AddScores(outcome, answer);
      CheckComplete(nodes.size(), answer);
      CheckAntiAffinity(outcome, experiment.objects.anti_affine, answer);
      if (suggest && answer.state == State::kUnschedulable) {
        found = ChangesFor(trial, nodes, rules, answer, stop);
      }
    }
    answer.warnings.insert(answer.warnings.begin(),
                           trial.copy().warnings().begin(),
                           trial.copy().warnings().end());
  }  // end the copy, to free its memory
  answer.pod = experiment.pod.ToString();
  const bool may_help =
      answer.state == State::kUnschedulable || answer.state == State::kGated;
  if (suggest && may_help) {
    AddSuggestions(experiment, std::move(found), suggestion_time, answer, stop);
  }
  return answer;
}

}  // namespace minisched::explain
