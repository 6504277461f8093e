#include "lab/scenario/evaluation.h"

#include <algorithm>
#include <boost/algorithm/string/join.hpp>
#include <limits>
#include <utility>

#include "lab/scenario/errors.h"
#include "lab/scenario/expectation_reader.h"
#include "lab/scenario/metric_sum.h"
#include "lab/scenario/overcommit.h"

namespace minisched::scenario {
namespace {

using Kind = Verdict::Kind;
using Bound = PodExpectation::Bound;
using Pods = std::vector<std::shared_ptr<const Pod>>;

bool IsBound(const Pod& pod) { return !pod.spec.node_name.empty(); }
bool IsUnbound(const Pod& pod) { return !IsBound(pod); }

const Condition* FindCondition(const Pod& pod, const std::string& type) {
  const auto& all = pod.status.conditions;
  const auto found = std::find_if(
      all.begin(), all.end(), [&](const auto& c) { return c.type == type; });
  return found == all.end() ? nullptr : &*found;
}

// Returns true if the pattern is empty, a prefix of the text, or a glob that
// matches the text. Glob characters in a prefix need no escapes.
bool MatchesText(const std::string& pattern, const std::string& text) {
  return pattern.empty() || text.starts_with(pattern) ||
         MatchesGlob(pattern, text);
}

// Returns "2 of 20 are bound: web-1: on a; web-2: on b", where 20 is `of` and
// "are bound" is `are`. Describes only the first few of many pods.
std::string DescribeSome(const Pods& pods, std::size_t of,
                         const std::string& are) {
  constexpr std::size_t kFew = 3;
  std::vector<std::string> some;
  for (const auto& pod : pods) {
    if (some.size() == kFew) {
      some.emplace_back("…");
      break;
    }
    some.push_back(DescribePod(*pod));
  }
  return std::to_string(pods.size()) + " of " + std::to_string(of) + " " + are +
         ": " + boost::algorithm::join(some, "; ");
}

// Judges an expectation about pods, part by part. The verdict is that of the
// first part that is broken or, if there is none, of the first part that is not
// met yet.
class PodsJudge {
 public:
  PodsJudge(const PodExpectation& expected, const ClusterState& state)
      : expected_(expected), state_(state) {
    for (const auto& [name, pod] : state.pods) {
      if (MatchesAnyGlob(expected.pods, name)) pods_.push_back(pod);
    }
  }

  Verdict Judge() {
    if (expected_.gone) {
      if (!pods_.empty()) SetNotYet(DescribeAll(pods_, "still exist"), pods_);
      return verdict_;
    }
    JudgePresence();
    JudgeBound();
    JudgeNodes();
    JudgeSpread();
    JudgeStatus();
    if (expected_.event) JudgeEvents();
    return verdict_;
  }

 private:
  void SetNotYet(const std::string& found, const Pods& pods = {}) {
    Set(Kind::kNotYet, found, pods);
  }
  void SetBroken(const std::string& found, const Pods& pods = {}) {
    Set(Kind::kBroken, found, pods);
  }
  // Sets the verdict unless it is already of this kind or a worse one.
  void Set(Kind kind, const std::string& found, const Pods& pods) {
    if (verdict_.kind >= kind) return;
    verdict_ = {kind, found};
    for (const auto& pod : pods) verdict_.pods.push_back(pod->metadata.name);
  }

  std::string DescribeAll(const Pods& pods, const std::string& are) const {
    return DescribeSome(pods, pods_.size(), are);
  }

  template <class Predicate>
  Pods Without(Predicate matches) const {
    Pods others;
    std::copy_if(pods_.begin(), pods_.end(), std::back_inserter(others),
                 [&](const auto& pod) { return !matches(*pod); });
    return others;
  }

  // Calls SetNotYet() if some pods don't match. `otherwise` describes these
  // pods.
  template <class Predicate>
  void Each(Predicate matches, const std::string& otherwise) {
    const Pods others = Without(matches);
    if (!others.empty()) SetNotYet(DescribeAll(others, otherwise), others);
  }

  void JudgePresence() {
    for (const std::string& name : state_.created) {
      if (MatchesAnyGlob(expected_.pods, name) && !state_.pods.contains(name)) {
        SetNotYet(name + " does not exist");
      }
    }
    if (expected_.count && *expected_.count != static_cast<int>(pods_.size())) {
      SetNotYet(std::to_string(pods_.size()) + " exist");
    }
    if (pods_.empty()) SetNotYet("no such pods exist");
  }

  void JudgeBound() {
    const Pods unbound = Without(IsBound);
    const Pods bound = Without(IsUnbound);
    const int count = static_cast<int>(bound.size());
    if (expected_.bound == Bound::kAll && !unbound.empty()) {
      SetNotYet(DescribeAll(unbound, "are not bound"), unbound);
    }
    if ((expected_.bound == Bound::kNone || expected_.pending) && count > 0) {
      SetBroken(DescribeAll(bound, "are bound"), bound);
    }
    if (expected_.bound == Bound::kAllOrNone && count > 0 && !unbound.empty()) {
      SetNotYet("some are bound, but " + DescribeAll(unbound, "are not"),
                unbound);
    }
    if (expected_.bound_count && count != *expected_.bound_count) {
      Set(count > *expected_.bound_count ? Kind::kBroken : Kind::kNotYet,
          std::to_string(count) + " of " + std::to_string(pods_.size()) +
              " are bound",
          count > *expected_.bound_count ? bound : unbound);
    }
  }

  void JudgeNodes() {
    if (expected_.on.empty() && expected_.not_on.empty()) return;
    const Pods elsewhere = Without([&](const Pod& pod) {
      const std::string& node = pod.spec.node_name;
      return !IsBound(pod) ||
             ((expected_.on.empty() || MatchesAnyGlob(expected_.on, node)) &&
              !MatchesAnyGlob(expected_.not_on, node));
    });
    if (!elsewhere.empty()) {
      SetBroken(DescribeAll(elsewhere, "are on other nodes"), elsewhere);
    }
    Each(IsBound, "are not bound");
  }

  using Counts = std::map<std::string, int>;

  // Returns the number of bound pods for each value of this label of nodes or,
  // if `label` is empty, for each node.
  Counts CountBound(const std::string& label) const {
    Counts counts;
    std::map<std::string, int*> by_node;
    for (const auto& [name, node] : state_.nodes) {
      const auto value = node->metadata.labels.find(label);
      if (!label.empty() && value == node->metadata.labels.end()) continue;
      by_node[name] = &counts[label.empty() ? name : value->second];
    }
    for (const auto& pod : pods_) {
      const auto count = by_node.find(pod->spec.node_name);
      if (count != by_node.end()) ++*count->second;
    }
    return counts;
  }

  static std::string DescribeCounts(const Counts& counts) {
    std::vector<std::string> texts;
    for (const auto& [name, count] : counts) {
      texts.push_back(std::to_string(count) + " on " + name);
    }
    return boost::algorithm::join(texts, ", ");
  }

  void JudgeSpread() {
    const Kind kind = IsFinal() ? Kind::kBroken : Kind::kNotYet;
    const Counts counts = CountBound("");
    int used = 0;
    int most = 0;
    for (const auto& [node, count] : counts) {
      used += count > 0 ? 1 : 0;
      most = std::max(most, count);
    }
    if (used < expected_.nodes_at_least.value_or(0)) {
      Set(kind, DescribeCounts(counts), {});
    }
    if (most > expected_.per_node_at_most.value_or(most)) {
      SetBroken(DescribeCounts(counts));
    }
    if (expected_.skew) JudgeSkew(CountBound(expected_.skew_by), kind);
  }

  void JudgeSkew(const Counts& counts, Kind kind) {
    const auto by_count = [](const auto& a, const auto& b) {
      return a.second < b.second;
    };
    const auto [least, most] =
        std::minmax_element(counts.begin(), counts.end(), by_count);
    if (counts.empty()) {
      SetNotYet("no node has the label " + expected_.skew_by);
    } else if (most->second - least->second > *expected_.skew) {
      Set(kind, DescribeCounts(counts), {});
    }
  }

  // True if all expected pods exist and are bound, and none is from a workload,
  // which could create more.
  bool IsFinal() const {
    return verdict_.kind == Kind::kMet &&
           std::all_of(pods_.begin(), pods_.end(), [&](const auto& pod) {
             return IsBound(*pod) &&
                    state_.created.contains(pod->metadata.name);
           });
  }

  void JudgeStatus() {
    if (expected_.pending) {
      JudgeCondition({.type = "PodScheduled",
                      .status = "False",
                      .reason = "Unschedulable",
                      .message = *expected_.pending});
    }
    if (expected_.condition) JudgeCondition(*expected_.condition);
    if (!expected_.phase.empty()) {
      Each([&](const Pod& pod) { return pod.status.phase == expected_.phase; },
           "are not " + expected_.phase);
    }
  }

  void JudgeCondition(const PodExpectation::Condition& expected) {
    Each(
        [&](const Pod& pod) {
          const Condition* condition = FindCondition(pod, expected.type);
          return condition != nullptr &&
                 MatchesText(expected.status, condition->status) &&
                 MatchesText(expected.reason, condition->reason) &&
                 MatchesText(expected.message, condition->message);
        },
        "have no such condition");
  }

  void JudgeEvents() {
    const PodExpectation::Event& expected = *expected_.event;
    std::map<std::string, int> counts;
    for (const PodEvent& event : state_.events()) {
      if (MatchesText(expected.type, event.type) &&
          MatchesText(expected.reason, event.reason) &&
          MatchesText(expected.message, event.message)) {
        ++counts[event.pod];
      }
    }
    Each([&](const Pod& pod) { return counts.contains(pod.metadata.name); },
         "have no such event");
    for (const auto& pod : pods_) {
      const int count = counts[pod->metadata.name];
      if (expected.at_most && count > *expected.at_most) {
        SetBroken(pod->metadata.name + " has " + std::to_string(count) +
                      " such events",
                  {pod});
      }
    }
  }

  const PodExpectation& expected_;
  const ClusterState& state_;
  Pods pods_;
  Verdict verdict_;
};

Verdict Judge(const PodExpectation& expected, const ClusterState& state) {
  return PodsJudge(expected, state).Judge();
}

Verdict Judge(const OrderExpectation& expected, const ClusterState& state) {
  Verdict verdict;
  // The moment and the name of the last pod of the previous globs.
  std::optional<std::pair<int, std::string>> last;
  for (const std::string& glob : expected.globs) {
    std::optional<std::pair<int, std::string>> latest = last;
    for (const auto& [name, pod] : state.pods) {
      if (!MatchesGlob(glob, name)) continue;
      const auto bound = state.bound_at.find(pod->metadata.uid);
      if (bound == state.bound_at.end()) {
        if (verdict.kind == Kind::kMet) {
          verdict = {Kind::kNotYet, "not bound: " + DescribePod(*pod), {name}};
        }
        // Pods of later globs must not be bound before this pod.
        latest = {std::numeric_limits<int>::max(), name};
        continue;
      }
      if (last && bound->second < last->first) {
        return {Kind::kBroken,
                name + " was bound before " + last->second,
                {name, last->second}};
      }
      latest = std::max(latest, {{bound->second, name}});
    }
    last = latest;
  }
  return verdict;
}

Verdict Judge(const RequestExpectation& expected, const ClusterState& state) {
  int count = 0;
  for (const RequestCount& request : state.requests()) {
    if ((expected.verb.empty() || request.verb == expected.verb) &&
        (expected.resource.empty() || request.resource == expected.resource)) {
      count += request.count;
    }
  }
  const std::string found = std::to_string(count) + " requests";
  if (expected.at_most && count > *expected.at_most) {
    return {Kind::kBroken, found};
  }
  if (expected.at_least && count < *expected.at_least) {
    return {Kind::kNotYet, found};
  }
  return {};
}

Verdict Judge(const MetricExpectation& expected, const ClusterState& state) {
  MetricSum sum;
  try {
    sum = SumSamples(expected, state.metrics());
  } catch (const MetricsError& error) {
    return {Kind::kNotYet, error.what()};
  }
  const double most = expected.at_most.value_or(
      expected.equals.value_or(std::numeric_limits<double>::infinity()));
  const double least = expected.at_least.value_or(
      expected.equals.value_or(-std::numeric_limits<double>::infinity()));
  // NaN is neither less nor more than a number, so it meets no expectation.
  if (sum.value >= least && sum.value <= most) return {};
  const bool is_broken = sum.value > most && IsCounter(expected.name);
  return {is_broken ? Kind::kBroken : Kind::kNotYet, sum.text};
}

Verdict Judge(const OvercommitExpectation&, const ClusterState& state) {
  const std::string overcommitted = FindOvercommit(state.nodes, state.pods);
  if (overcommitted.empty()) return {};
  return {Kind::kBroken, overcommitted};
}

}  // namespace

Verdict Evaluate(const Expectation& expectation, const ClusterState& state) {
  return std::visit(
      [&](const auto& expected) { return Judge(expected, state); },
      expectation.what);
}

bool CanBeWatched(const Expectation& expectation) {
  if (std::holds_alternative<RequestExpectation>(expectation.what) ||
      std::holds_alternative<MetricExpectation>(expectation.what)) {
    return false;
  }
  const auto* pods = std::get_if<PodExpectation>(&expectation.what);
  return pods == nullptr ||
         (!pods->event && (pods->bound == Bound::kNone || pods->pending ||
                           pods->bound_count || !pods->on.empty() ||
                           !pods->not_on.empty() || pods->per_node_at_most));
}

std::string DescribePod(const Pod& pod) {
  std::string text = pod.metadata.name + ": ";
  text += IsBound(pod) ? "on " + pod.spec.node_name : "no node";
  const std::string& phase = pod.status.phase;
  if (!phase.empty() && phase != "Pending") text += ", " + phase;
  if (!pod.status.reason.empty()) text += ", " + pod.status.reason;
  const Condition* scheduled = FindCondition(pod, "PodScheduled");
  if (!IsBound(pod) && scheduled != nullptr) {
    text += ", " + scheduled->reason + ": " + scheduled->message;
  }
  if (pod.metadata.deletion_timestamp) text += ", being deleted";
  return text;
}

std::string DescribeNode(const Node& node) {
  std::vector<std::string> parts;
  if (node.spec.unschedulable) parts.emplace_back("cordoned");
  for (const Taint& taint : node.spec.taints) {
    // Every cordoned node has this taint too.
    if (taint.key == "node.kubernetes.io/unschedulable") continue;
    parts.push_back("taint " + taint.key +
                    (taint.value.empty() ? "" : "=" + taint.value) + ":" +
                    taint.effect);
  }
  return parts.empty() ? ""
                       : "node " + node.metadata.name + ": " +
                             boost::algorithm::join(parts, ", ");
}

}  // namespace minisched::scenario
