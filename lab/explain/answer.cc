#include "lab/explain/answer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>

#include "minisched/base/printable.h"

namespace minisched::explain {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::size_t kMaxRows = 20;
constexpr std::size_t kMaxScores = 5;
constexpr std::size_t kMaxNames = 5;  // in one row

// The names and the exit codes of the states, in the order of State.
constexpr std::array<std::pair<const char*, int>, 10> kStates = {
    {{"fits", 0},
     {"unschedulable", 1},
     {"not bound", 1},
     {"preempts", 0},
     {"gated", 1},
     {"bound", 0},
     {"node not found", 1},
     {"being deleted", 2},
     {"ended", 2},
     {"other scheduler", 2}}};

const auto& RowOf(State state) {
  return kStates.at(static_cast<std::size_t>(state));
}

std::string ToText(const std::vector<Rejection>& rejections) {
  std::vector<std::string> parts;
  for (const auto& [plugin, reasons, causes] : rejections) {
    parts.push_back(fmt::format("{}{}{}", plugin, plugin.empty() ? "" : ": ",
                                fmt::join(causes, ", ")));
  }
  return fmt::format("{}", fmt::join(parts, " · "));
}

// Returns the first line.
std::string Headline(const Answer& answer) {
  if (answer.is_daemon_set) return answer.sentence;
  if (answer.state == State::kUnschedulable) {
    return answer.pod + " fits no node: " + answer.sentence;
  }
  if (answer.state == State::kPreempts) {
    const std::size_t count = answer.victims.size();
    // What PostFilter adds is told with the victims' names.
    const std::string sentence =
        answer.sentence.substr(0, answer.sentence.find(" preemption: "));
    return fmt::format(
        "{} fits no node: {} The scheduler evicts {} of lower priority from {} "
        "for it{}",
        answer.pod, sentence,
        count == 0   ? "pods"
        : count == 1 ? "a pod"
                     : fmt::format("{} pods", count),
        answer.node, count == 0 ? "" : ":");
  }
  if (answer.state == State::kNotBound) {
    return fmt::format("{} fits {}, but is not bound: {}", answer.pod,
                       answer.node, answer.sentence);
  }
  return answer.sentence;
}

// A row of a table: a name, and a text.
using Rows = std::vector<std::pair<std::string, std::string>>;

// The first column is at most this wide.
constexpr std::size_t kMaxWidth = 72;

void AppendRows(std::string& out, const Rows& rows, const char* separator) {
  std::size_t width = 0;
  for (const auto& [name, text] : rows) {
    width = std::max(width, std::min(name.size(), kMaxWidth));
  }
  for (const auto& [name, text] : rows) {
    out += fmt::format("  {:{}}{}{}\n", Printable(name), width, separator,
                       Printable(text));
  }
}

// Returns a row for the nodes that were rejected for the same reasons.
Rows RowsOf(const std::vector<RejectedNode>& nodes) {
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;
  std::map<std::string, std::size_t> known;  // positions in groups
  for (const RejectedNode& node : nodes) {
    const std::string text = ToText(node.rejections);
    const auto [group, is_new] = known.emplace(text, groups.size());
    if (is_new) groups.emplace_back(text, std::vector<std::string>());
    groups[group->second].second.push_back(node.node);
  }
  Rows rows;
  for (auto& [text, names] : groups) {
    const std::size_t count = names.size();
    if (count > kMaxNames) {
      names.resize(kMaxNames - 1);
      names.push_back(fmt::format("… ({} nodes)", count));
    }
    rows.emplace_back(fmt::format("{}", fmt::join(names, ", ")), text);
  }
  return rows;
}

// Appends the pods that are evicted.
void AppendVictims(std::string& out, const Answer& answer) {
  Rows rows;
  for (const auto& [pod, priority, budgets] : answer.victims) {
    std::string text =
        fmt::format("priority {}, below {}", priority, answer.priority);
    if (!budgets.empty()) {
      text += fmt::format(", against the disruption budget {}",
                          fmt::join(budgets, ", "));
    }
    rows.emplace_back(pod, std::move(text));
  }
  AppendRows(out, rows, "  ");
  const bool has_table =
      !answer.rejected.empty() || !answer.pod_rejections.empty();
  if (!rows.empty() && has_table) out += "Why it fits no node now:\n";
}

void AppendRejections(std::string& out, const Answer& answer) {
  for (const Rejection& rejection : answer.pod_rejections) {
    out += "  " + Printable(ToText({rejection})) + "\n";
  }
  Rows rows = RowsOf(answer.rejected);
  const std::size_t count = rows.size();
  rows.resize(std::min(count, kMaxRows));
  AppendRows(out, rows, "  ");
  if (count > kMaxRows) {
    out += fmt::format("  … and {} more rows: see -o json\n", count - kMaxRows);
  }
}

std::string NothingHelps(const Tried& tried) {
  const std::string known =
      tried.changes == 0
          ? "No single change was found that helps"
          : fmt::format("No single change helps ({} tried on a copy)",
                        tried.changes);
  if (tried.pairs == 0) return known + ".\n";
  return fmt::format("{}, and no pair of changes{} ({} tried{}).\n", known,
                     tried.changes == 0 ? " helps" : "", tried.pairs,
                     tried.changes == 0 ? " on a copy" : "");
}

// Appends the changes that help, or that none does.
void AppendSuggestions(std::string& out, const Answer& answer) {
  Rows rows;
  for (const Change& change : answer.suggestions) {
    rows.emplace_back(change.text, change.node);
  }
  if (!rows.empty()) {
    out += answer.suggestions[0].changes == 1
               ? "Any one of these changes helps (tried on a copy):\n"
               : "No single change helps. Any of these pairs of changes does "
                 "(tried on a copy):\n";
  } else if (answer.tried) {
    out += NothingHelps(*answer.tried);
  }
  AppendRows(out, rows, "  → ");
}

void AppendScores(std::string& out, const Answer& answer) {
  Rows rows;
  for (const ScoredNode& node : answer.scores) {
    if (node.scores.empty()) return;  // the only node
    std::vector<std::string> parts;
    for (const auto& [plugin, score] : node.scores) {
      parts.push_back(fmt::format("{} {}", plugin, score));
    }
    rows.emplace_back(
        node.node, fmt::format("{} = {}", node.total, fmt::join(parts, " + ")));
    if (rows.size() == kMaxScores) break;
  }
  AppendRows(out, rows, "  ");
}

OrderedJson ToJson(const std::vector<Rejection>& rejections) {
  OrderedJson list = OrderedJson::array();
  for (const auto& [plugin, reasons, causes] : rejections) {
    OrderedJson& item = list.emplace_back();
    if (!plugin.empty()) item["plugin"] = plugin;
    item["reasons"] = reasons;
    item["causes"] = causes;
  }
  return list;
}

OrderedJson NodesOf(const Answer& answer) {
  OrderedJson nodes = OrderedJson::array();
  for (const ScoredNode& node : answer.scores) {
    OrderedJson scores = OrderedJson::object();
    for (const auto& [plugin, score] : node.scores) scores[plugin] = score;
    nodes.push_back(
        {{"node", node.node}, {"total", node.total}, {"scores", scores}});
  }
  for (const RejectedNode& node : answer.rejected) {
    nodes.push_back(
        {{"node", node.node}, {"rejections", ToJson(node.rejections)}});
  }
  return nodes;
}

}  // namespace

int ExitCode(const Answer& answer) { return RowOf(answer.state).second; }

std::string ToTable(const Answer& answer) {
  std::string out = Printable(Headline(answer)) + "\n";
  if (answer.state == State::kFits && !answer.is_daemon_set) {
    AppendScores(out, answer);
  } else {
    AppendVictims(out, answer);
    AppendRejections(out, answer);
  }
  for (const std::string& line : answer.running) out += Printable(line) + "\n";
  AppendSuggestions(out, answer);
  return out;
}

std::string ToJson(const Answer& answer) {
  OrderedJson json = {{"v", 1},
                      {"pod", answer.pod},
                      {"state", RowOf(answer.state).first},
                      {"sentence", answer.sentence}};
  if (!answer.node.empty()) json["node"] = answer.node;
  json["allNodes"] = answer.all_nodes;
  json["feasibleNodes"] = answer.feasible_nodes;
  if (!answer.pod_rejections.empty()) {
    json["rejections"] = ToJson(answer.pod_rejections);
  }
  json["nodes"] = NodesOf(answer);
  for (const auto& [pod, priority, budgets] : answer.victims) {
    json["victims"].push_back(
        {{"pod", pod}, {"priority", priority}, {"budgets", budgets}});
  }
  json["suggestions"] = OrderedJson::array();
  for (const auto& [text, step, changes, node] : answer.suggestions) {
    json["suggestions"].push_back(
        {{"text", text}, {"changes", changes}, {"node", node}, {"step", step}});
  }
  if (answer.tried) {
    json["tried"] = {{"changes", answer.tried->changes},
                     {"pairs", answer.tried->pairs}};
  }
  if (!answer.running.empty()) json["running"] = answer.running;
  json["warnings"] = answer.warnings;
  return json.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace minisched::explain
