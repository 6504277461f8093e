#include "lab/live/simulator_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <regex>
#include <utility>

#include "lab/live/json.h"

namespace minisched::live {
namespace {

const std::string kPrefix = "kube-scheduler-simulator.sigs.k8s.io/";

// The extension points, and the annotations with their results.
constexpr std::pair<const char*, const char*> kPoints[] = {
    {"PreFilter", "prefilter-result-status"},
    {"PreScore", "prescore-result"},
    {"Reserve", "reserve-result"},
    {"Permit", "permit-result"},
    {"PreBind", "prebind-result"},
    {"Bind", "bind-result"}};

using Texts = std::map<std::string, std::string>;  // by plugin
using TextsByNode = std::map<std::string, Texts>;

// Returns the value of an annotation, or `otherwise`.
template <class T>
T Result(const Labels& annotations, const char* name, T otherwise = {}) {
  const auto found = annotations.find(kPrefix + name);
  if (found == annotations.end()) return otherwise;
  const Json value = Json::parse(found->second, nullptr, false);
  try {
    return value.get<T>();
  } catch (const Json::exception&) {
    return otherwise;
  }
}

// Returns the plugins in an order in which they may have run. The annotations
// have no order, but an earlier plugin has run for more nodes.
std::vector<std::string> FilterOrder(const TextsByNode& nodes) {
  std::map<std::string, std::pair<int, int>> rank;  // {-runs, rejections}
  std::vector<std::string> order;
  for (const auto& [node, results] : nodes) {
    for (const auto& [plugin, text] : results) {
      if (!rank.contains(plugin)) order.push_back(plugin);
      --rank[plugin].first;
      if (text != "passed") ++rank[plugin].second;
    }
  }
  std::ranges::sort(order, {}, [&](const std::string& plugin) {
    return std::pair(rank[plugin], plugin);
  });
  return order;
}

void AddNodes(Attempt& attempt, const TextsByNode& nodes) {
  std::vector<std::string> fits;
  std::vector<RejectedNode> rejected;
  std::map<std::pair<std::string, std::string>, std::size_t> counts;
  for (const auto& [node, results] : nodes) {
    const auto rejection = std::ranges::find_if(
        results, [](const auto& result) { return result.second != "passed"; });
    if (rejection == results.end()) {
      fits.push_back(node);
      continue;
    }
    const auto& [plugin, reason] = *rejection;
    ++counts[{plugin, reason}];
    rejected.push_back({node, {{plugin, {reason}}}});
  }
  for (const auto& [why, count] : counts) {
    attempt.reasons.push_back({why.first, why.second, count});
  }
  attempt.all_nodes = nodes.size();
  attempt.feasible_nodes = fits.size();
  attempt.filters = FilterOrder(nodes);
  attempt.fits = std::move(fits);
  attempt.rejected = std::move(rejected);
}

// Returns 0 for a text that is no number.
std::int64_t ToNumber(const std::string& text) {
  return std::strtoll(text.c_str(), nullptr, 10);
}

void AddScores(Attempt& attempt, TextsByNode raw, TextsByNode weighted) {
  if (raw.empty()) return;
  std::vector<ScoreColumn> columns;
  for (const auto& [plugin, score] : raw.begin()->second) {
    ScoreColumn& column = columns.emplace_back();
    column.plugin = plugin;
    for (const std::string& node : attempt.fits) {
      column.raw.push_back(ToNumber(raw[node][plugin]));
      column.normalized.push_back(ToNumber(weighted[node][plugin]));
    }
  }
  attempt.scores = std::move(columns);
}

// Adds the results of an extension point, and the failure if one failed.
void AddPoint(Attempt& attempt, const char* point, const Texts& results,
              Texts timeouts) {
  static const Texts kStatus = {
      {"success", "Success"}, {"", "Skip"}, {"wait", "Wait"}};
  for (const auto& [plugin, text] : results) {
    const auto status = kStatus.find(text);
    if (status == kStatus.end()) {
      attempt.failure = text;
      attempt.points.push_back({point, plugin, "Failed", text});
    } else {
      attempt.points.push_back({point, plugin, status->second,
                                text == "wait" ? timeouts[plugin] : ""});
    }
  }
}

// Returns the message of an attempt that has found no node.
std::string FailureOf(const Attempt& attempt) {
  std::string text;
  for (const ReasonCount& reason : attempt.reasons) {
    text += fmt::format("{} {} {}", text.empty() ? ":" : ",", reason.nodes,
                        reason.reason);
  }
  return fmt::format("0/{} nodes are available{}.", attempt.all_nodes, text);
}

}  // namespace

Attempt AttemptOf(const Labels& annotations) {
  Attempt attempt;
  AddNodes(attempt, Result<TextsByNode>(annotations, "filter-result"));
  AddScores(attempt, Result<TextsByNode>(annotations, "score-result"),
            Result<TextsByNode>(annotations, "finalscore-result"));
  const auto node = annotations.find(kPrefix + "selected-node");
  if (node != annotations.end()) attempt.node = node->second;
  if (attempt.node.empty()) attempt.failure = FailureOf(attempt);
  const auto timeouts = Result<Texts>(annotations, "permit-result-timeout");
  for (const auto& [point, name] : kPoints) {
    AddPoint(attempt, point, Result<Texts>(annotations, name), timeouts);
  }
  return attempt;
}

Attempt FailedAttempt(const std::string& message) {
  static const std::regex kAll(R"(0/(\d{1,9}) nodes are available: (.*))");
  static const std::regex kReason(R"((\d{1,9}) (.+?)(?=, \d+ |$))");
  Attempt attempt{.failure = message};
  // What follows the reasons is of PostFilter.
  std::string sentence = message.substr(0, message.find(". "));
  if (sentence.ends_with('.')) sentence.pop_back();
  std::smatch all;
  if (!std::regex_match(sentence, all, kAll)) return attempt;
  attempt.all_nodes = std::stoul(all[1]);
  const std::string reasons = all[2];
  std::sregex_iterator reason(reasons.begin(), reasons.end(), kReason);
  for (; reason != std::sregex_iterator(); ++reason) {
    attempt.reasons.push_back({"", reason->str(2), std::stoul(reason->str(1))});
  }
  return attempt;
}

Json AttemptRecord(Attempt attempt, const ObjectMeta& pod, int number,
                   Time time) {
  attempt.pod = ObjectName(pod);
  attempt.uid = pod.uid;
  attempt.number = number;
  return Json::parse(ToJsonLine({.sequence = static_cast<std::uint64_t>(number),
                                 .time = time,
                                 .state = std::move(attempt)}));
}

std::vector<Json> SimulatorResults::Read(const Pod& pod, Time time) {
  Labels present = pod.metadata.annotations;
  std::erase_if(present, [](const auto& annotation) {
    return !annotation.first.starts_with(kPrefix) ||
           annotation.first.ends_with("/result-history");
  });
  if (present.empty()) return {};
  auto results =
      Result(pod.metadata.annotations, "result-history", std::vector{present});
  Known& known = pods_[pod.metadata.uid];
  results.erase(results.begin(),
                results.begin() + std::min<std::ptrdiff_t>(
                                      known.attempts, std::ssize(results)));
  // The history may have lost its oldest entries.
  if (results.empty() && present != known.last) results.push_back(present);
  std::vector<Json> records;
  for (const Labels& result : results) {
    records.push_back(
        AttemptRecord(AttemptOf(result), pod.metadata, ++known.attempts, time));
  }
  known.last = std::move(present);
  return records;
}

}  // namespace minisched::live
