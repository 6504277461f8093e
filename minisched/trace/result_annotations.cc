#include "minisched/trace/result_annotations.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace minisched {
namespace {

using Json = nlohmann::json;  // writes the members of an object sorted, as Go

constexpr std::string_view kPrefix = "kube-scheduler-simulator.sigs.k8s.io/";
constexpr std::string_view kHistory =
    "kube-scheduler-simulator.sigs.k8s.io/result-history";

std::string Text(const Json& json) {
  return json.dump(/*indent=*/-1, ' ', /*ensure_ascii=*/false,
                   Json::error_handler_t::replace);
}

// Returns the result of a plugin as the simulator writes it.
std::string ToText(const PointResult& result) {
  if (result.status == "Success") return "success";
  if (result.status == "Wait") return "wait";
  return result.message;
}

// Returns the timeout of a result of Permit.
std::string TimeoutOf(const PointResult& result) {
  return result.status == "Wait" ? result.message : "0s";
}

// Returns what `to_text` makes of the results of the plugins at an extension
// point. If a plugin has several results, the first one counts: what follows a
// Wait is not a result of Permit.
Json PluginResults(const Attempt& attempt, std::string_view point,
                   std::string (*to_text)(const PointResult&) = ToText) {
  Json results = Json::object();
  for (const PointResult& result : attempt.points) {
    if (result.point == point && !result.plugin.empty()) {
      results.emplace(result.plugin, to_text(result));
    }
  }
  return results;
}

// Returns the text between the brackets of the reason with which PreFilter
// excludes a node, and nullopt for any other rejection.
std::optional<std::string_view> ExcludedBy(const RejectedNode& node) {
  constexpr std::string_view kBegin = "node(s) didn't satisfy plugin(s) [";
  const Rejection& first = node.rejections.front();
  if (!first.plugin.empty() || first.reasons.empty()) return std::nullopt;
  const std::string_view reason = first.reasons.front();
  if (!reason.starts_with(kBegin) || !reason.ends_with(']')) {
    return std::nullopt;
  }
  return reason.substr(kBegin.size(), reason.size() - kBegin.size() - 1);
}

// Returns the nodes that PreFilter has left over, by plugin. A trace has no
// nodes of each plugin. So if several plugins exclude nodes, each has those
// that all of them leave over.
Json PreFilterNodes(const Attempt& attempt) {
  std::string_view plugins;
  std::set<std::string_view> nodes(attempt.fits.begin(), attempt.fits.end());
  for (const RejectedNode& node : attempt.rejected) {
    if (const auto excluded_by = ExcludedBy(node)) {
      plugins = *excluded_by;
    } else {
      nodes.insert(node.node);
    }
  }
  Json results = Json::object();
  while (!plugins.empty()) {
    const std::size_t end = std::min(plugins.find(' '), plugins.size());
    results.emplace(plugins.substr(0, end), nodes);
    plugins.remove_prefix(std::min(end + 1, plugins.size()));
  }
  return results;
}

// Returns the filter plugins that have run, in their order: all except those
// whose PreFilter returned Skip.
std::vector<std::string> FiltersThatRan(const Attempt& attempt) {
  std::vector<std::string> filters = attempt.filters;
  for (const PointResult& result : attempt.points) {
    if (result.point == "PreFilter" && result.status == "Skip") {
      std::erase(filters, result.plugin);
    }
  }
  return filters;
}

// Returns the results of the plugins for each node. Ignores all rejections of a
// node except the first one: in a scheduler, the other plugins did not run.
Json FilterResults(const Attempt& attempt) {
  const std::vector<std::string> filters = FiltersThatRan(attempt);
  Json results = Json::object();
  if (filters.empty()) return results;
  Json passed = Json::object();
  for (const std::string& filter : filters) passed[filter] = "passed";
  for (const std::string& node : attempt.fits) results[node] = passed;
  for (const RejectedNode& node : attempt.rejected) {
    const Rejection& first = node.rejections.front();
    if (first.plugin.empty()) continue;  // excluded by PreFilter
    Json& of_node = results[node.node];
    for (const std::string& filter : filters) {
      if (filter == first.plugin) break;
      of_node[filter] = "passed";
    }
    of_node[first.plugin] = fmt::format("{}", fmt::join(first.reasons, ", "));
  }
  return results;
}

// Returns what `score` makes of a column and of the index of a node, for each
// node and plugin.
template <class Score>
Json ScoreResults(const Attempt& attempt, const Score& score) {
  Json results = Json::object();
  for (std::size_t i = 0; i < attempt.fits.size(); ++i) {
    for (const ScoreColumn& column : attempt.scores) {
      results[attempt.fits[i]][column.plugin] =
          std::to_string(score(column, i));
    }
  }
  return results;
}

std::size_t BytesLeft(std::size_t limit, std::size_t bytes) {
  return limit - std::min(limit, bytes);
}

// Removes the largest results until the others have at most `limit` bytes.
// Returns the names of those that it has removed.
std::vector<std::string> RemoveLargest(Labels& results, std::size_t limit) {
  std::vector<std::string> removed;
  while (AnnotationBytes(results) > limit) {
    const auto largest = std::max_element(
        results.begin(), results.end(), [](const auto& a, const auto& b) {
          return a.second.size() < b.second.size();
        });
    removed.push_back(largest->first);
    results.erase(largest);
  }
  return removed;
}

// Returns the entries of a history: empty if the text is not a list of objects
// with strings.
Json ParseHistory(const std::string& text) {
  Json entries = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  const auto is_entry = [](const Json& entry) {
    return entry.is_object() &&
           std::all_of(entry.begin(), entry.end(),
                       [](const Json& value) { return value.is_string(); });
  };
  if (!entries.is_array() ||
      !std::all_of(entries.begin(), entries.end(), is_entry)) {
    return Json::array();
  }
  return entries;
}

// Returns the history with another entry, in at most `limit` bytes: without its
// oldest entries if it would be longer, and empty if no entry fits.
std::string ExtendHistory(const std::string& text, const Labels& results,
                          std::size_t limit) {
  Json entries = ParseHistory(text);
  entries.push_back(results);
  std::size_t bytes = 1;  // with one bracket, and a comma for each entry
  std::string history;
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    std::string entry_text = Text(*entry);
    bytes += entry_text.size() + 1;
    if (bytes > limit) break;
    if (!history.empty()) entry_text += ',';
    history.insert(0, entry_text);
  }
  return history.empty() ? "" : "[" + history + "]";
}

std::string Value(const Labels& annotations, std::string_view name) {
  const auto found = annotations.find(name);
  return found == annotations.end() ? "" : found->second;
}

}  // namespace

std::size_t AnnotationBytes(const Labels& annotations) {
  std::size_t bytes = 0;
  for (const auto& [name, value] : annotations) {
    bytes += name.size() + value.size();
  }
  return bytes;
}

Labels ResultAnnotations(const Attempt& attempt) {
  Labels annotations;
  const auto set = [&annotations](std::string_view name, std::string value) {
    annotations[std::string(kPrefix).append(name)] = std::move(value);
  };
  set("prefilter-result-status", Text(PluginResults(attempt, "PreFilter")));
  set("prefilter-result", Text(PreFilterNodes(attempt)));
  set("filter-result", Text(FilterResults(attempt)));
  set("postfilter-result", "{}");
  set("prescore-result", Text(PluginResults(attempt, "PreScore")));
  set("score-result", Text(ScoreResults(attempt, [](const ScoreColumn& column,
                                                    std::size_t node) {
        return column.raw[node];
      })));
  set("finalscore-result",
      Text(ScoreResults(attempt,
                        [](const ScoreColumn& column, std::size_t node) {
                          return column.normalized[node] * column.weight;
                        })));
  set("reserve-result", Text(PluginResults(attempt, "Reserve")));
  set("permit-result", Text(PluginResults(attempt, "Permit")));
  set("permit-result-timeout",
      Text(PluginResults(attempt, "Permit", TimeoutOf)));
  set("prebind-result", Text(PluginResults(attempt, "PreBind")));
  set("bind-result", Text(PluginResults(attempt, "Bind")));
  set("selected-node", attempt.node);
  return annotations;
}

AnnotationPatch PatchResults(const ObjectMeta& pod, Labels results,
                             std::size_t limit) {
  Labels others = pod.annotations;
  others.erase(std::string(kHistory));
  for (const auto& [name, value] : results) others.erase(name);
  limit = BytesLeft(limit, AnnotationBytes(others));

  AnnotationPatch patch;
  patch.left_out = RemoveLargest(results, limit);
  Json changes = Json::object();
  for (const std::string& name : patch.left_out) {
    if (pod.annotations.contains(name)) changes[name] = nullptr;
  }
  for (const auto& [name, value] : results) {
    const auto found = pod.annotations.find(name);
    if (found == pod.annotations.end() || found->second != value) {
      changes[name] = value;
    }
  }
  if (changes.empty()) return patch;
  const std::size_t left =
      BytesLeft(limit, AnnotationBytes(results) + kHistory.size());
  const std::string history =
      ExtendHistory(Value(pod.annotations, kHistory), results, left);
  if (!history.empty()) {
    changes[kHistory] = history;
  } else {
    patch.left_out.emplace_back(kHistory);
    changes[kHistory] = nullptr;
  }
  patch.json =
      Text({{"metadata", {{"uid", pod.uid}, {"annotations", changes}}}});
  return patch;
}

}  // namespace minisched
