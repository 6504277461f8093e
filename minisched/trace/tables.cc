#include "minisched/trace/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "minisched/api/duration.h"
#include "minisched/base/printable.h"

namespace minisched {
namespace {

using Row = std::vector<std::string>;

// Returns the number of code points of UTF-8 text. Assumes that each code point
// takes one column.
std::size_t Width(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  });
}

// Returns the rows as indented lines, each after a line end. Each column is as
// wide as its widest cell.
std::string Align(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], Width(row[i]));
    }
  }
  std::string table;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += "  " + row[i] + std::string(widths[i] - Width(row[i]), ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    table += "\n" + line;
  }
  return table;
}

std::string Join(const std::vector<std::string>& texts) {
  return Printable(fmt::format("{}", fmt::join(texts, ", ")));
}

// Returns the duration as text, rounded down to milliseconds: "1.5s", "250ms".
std::string Short(std::chrono::microseconds duration) {
  return FormatDuration(
      std::chrono::floor<std::chrono::milliseconds>(duration));
}

// Returns true if the plugin's Filter did not run because its PreFilter
// returned Skip.
bool SkippedFilter(const Attempt& attempt, const std::string& plugin) {
  return std::any_of(attempt.points.begin(), attempt.points.end(),
                     [&](const PointResult& result) {
                       return result.point == "PreFilter" &&
                              result.plugin == plugin &&
                              result.status == "Skip";
                     });
}

// Returns the mark of a filter plugin for a node. `ran` is true if the
// plugin ran for the node.
std::string Mark(const std::string& plugin, const RejectedNode& node,
                 bool ran) {
  const auto& rejections = node.rejections;
  const auto rejection =
      std::find_if(rejections.begin(), rejections.end(),
                   [&](const Rejection& r) { return r.plugin == plugin; });
  if (rejection == rejections.end()) return ran ? "✓" : "·";
  return rejection == rejections.begin() ? "✗" : "(✗)";
}

// Appends a cell for each plugin that scores, and one for the total.
void AddScores(const Attempt& attempt, std::size_t node, Row& row) {
  std::int64_t total = 0;
  for (const ScoreColumn& plugin : attempt.scores) {
    const std::int64_t weighted = plugin.normalized[node] * plugin.weight;
    total += weighted;
    row.push_back(fmt::format("{}/{}/{}", plugin.raw[node],
                              plugin.normalized[node], weighted));
  }
  if (!attempt.scores.empty()) row.push_back(std::to_string(total));
}

// Returns the row of the node at this index among those that the pod fits.
Row FeasibleRow(const Attempt& attempt, std::size_t node) {
  Row row{Printable(attempt.fits[node])};
  for (const std::string& plugin : attempt.filters) {
    row.emplace_back(SkippedFilter(attempt, plugin) ? "·" : "✓");
  }
  AddScores(attempt, node, row);
  if (attempt.fits[node] == attempt.node) row.emplace_back("◀ selected");
  return row;
}

Row RejectedRow(const Attempt& attempt, const RejectedNode& node) {
  Row row{Printable(node.node)};
  const Rejection& first = node.rejections.front();
  // PreFilter has excluded a node whose rejection has no plugin.
  bool runs = !first.plugin.empty();
  for (const std::string& plugin : attempt.filters) {
    row.push_back(Mark(plugin, node, runs && !SkippedFilter(attempt, plugin)));
    runs = runs && (attempt.all_rejections || first.plugin != plugin);
  }
  if (!attempt.scores.empty()) {
    row.insert(row.end(), attempt.scores.size() + 1, "·");
  }
  row.push_back(Join(first.reasons));
  return row;
}

std::string Outcome(const Attempt& attempt) {
  if (!attempt.failure.empty()) return Printable(attempt.failure);
  return fmt::format("{} of {} nodes feasible, selected {}",
                     attempt.feasible_nodes, attempt.all_nodes,
                     Printable(attempt.node));
}

std::string CountsOfAll(const Attempt& attempt, std::size_t not_shown) {
  std::string line =
      fmt::format("\n  … and {} more. Of all {}: {} feasible", not_shown,
                  attempt.all_nodes, attempt.feasible_nodes);
  for (const ReasonCount& count : attempt.reasons) {
    line += fmt::format("; {} {}: {}", count.nodes, count.plugin,
                        Printable(count.reason));
  }
  return line;
}

// Returns a line for each extension point, with the results of its plugins.
// Leaves out PreScore: a plugin that skips has no column of scores.
std::string PointLines(const std::vector<PointResult>& results) {
  std::string lines;
  std::string_view last;
  for (const PointResult& result : results) {
    if (result.point == "PreScore") continue;
    lines += result.point == last ? "," : "\n  " + result.point + ":";
    last = result.point;
    if (!result.plugin.empty()) lines += " " + result.plugin;
    lines += " " + result.status;
    if (!result.message.empty()) {
      lines += fmt::format(" ({})", Printable(result.message));
    }
  }
  return lines;
}

// Returns the cause of the pod's move, and what the pod waits for.
std::string Details(const PodRecord& pod) {
  const Move& move = pod.move;
  std::vector<std::string> details;
  if (!move.event.empty()) details.push_back(move.event);
  if (!move.plugins.empty()) details.push_back("by " + Join(move.plugins));
  if (!move.wakes.empty()) details.push_back("wakes on " + Join(move.wakes));
  if (!move.node.empty()) details.push_back("on " + Printable(move.node));
  return fmt::format("{}", fmt::join(details, ", "));
}

}  // namespace

std::string FormatAttempt(const Attempt& attempt, std::size_t max_nodes) {
  std::string text = fmt::format("{}, attempt {}: {}", Printable(attempt.pod),
                                 attempt.number, Outcome(attempt));
  Row header{"NODE"};
  header.insert(header.end(), attempt.filters.begin(), attempt.filters.end());
  for (const ScoreColumn& plugin : attempt.scores) {
    header.push_back(plugin.plugin);
  }
  if (!attempt.scores.empty()) header.emplace_back("TOTAL");
  std::vector<Row> rows{header};
  const std::size_t fits = std::min(max_nodes, attempt.fits.size());
  for (std::size_t i = 0; i < fits; ++i) {
    rows.push_back(FeasibleRow(attempt, i));
  }
  const std::size_t rejected =
      std::min(max_nodes - fits, attempt.rejected.size());
  for (std::size_t i = 0; i < rejected; ++i) {
    rows.push_back(RejectedRow(attempt, attempt.rejected[i]));
  }
  const std::size_t shown = fits + rejected;
  if (shown > 0) text += Align(rows);
  if (shown < attempt.all_nodes) {
    text += CountsOfAll(attempt, attempt.all_nodes - shown);
  }
  return text + PointLines(attempt.points);
}

std::string FormatPlaces(const std::vector<RecordPtr>& pods, Time now,
                         const std::vector<std::string>& active_order) {
  std::unordered_map<std::string_view, std::size_t> turns;
  for (const std::string& uid : active_order) {
    turns.try_emplace(uid, turns.size());
  }
  const auto turn = [&](const PodRecord& pod) {
    const auto known = turns.find(pod.uid);
    const bool has_turn = pod.place == Place::kActive && known != turns.end();
    return has_turn ? known->second : turns.size();
  };
  std::map<std::tuple<Place, std::size_t, std::uint64_t>, Row> rows;
  for (const RecordPtr& record : pods) {
    const auto& pod = std::get<PodRecord>(record->state);
    if (pod.place == Place::kBound || pod.place == Place::kGone) continue;
    rows[{pod.place, turn(pod), record->sequence}] = {
        std::string(PlaceName(pod.place)),
        Printable(pod.pod),
        Short(now - record->time),
        pod.until ? Short(*pod.until - now) : "-",
        std::to_string(pod.move.attempts),
        Details(pod)};
  }
  if (rows.empty()) return "\n  none";
  std::vector<Row> table{
      {"PLACE", "POD", "SINCE", "UNTIL", "ATTEMPTS", "REASON"}};
  for (const auto& [key, row] : rows) table.push_back(row);
  return Align(table);
}

std::string FormatMove(const PodRecord& pod, Time now) {
  std::string text =
      fmt::format("{} → {}", Printable(pod.pod), PlaceName(pod.place));
  if (const auto details = Details(pod); !details.empty()) {
    text += " (" + details + ")";
  }
  if (pod.until) text += ", until in " + Short(*pod.until - now);
  return text;
}

}  // namespace minisched
