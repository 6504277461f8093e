#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "minisched/api/pod.h"
#include "minisched/base/clock.h"
#include "minisched/trace/records.h"

namespace minisched {

class Trace;

// Reports one attempt to a trace: what the plugins return, while they run. The
// report belongs to the attempt. If nobody reads attempts when the report is
// made, each call costs a branch.
//
// A moved report goes on, but a copy reports nothing: what plugins try out with
// a copy of an attempt's state is not part of the attempt. The functions are
// const, because plugins get this state as const. For one thread at a time.
//
// `Status` is the scheduler's type for what a plugin returns. It has reasons(),
// Message(), CodeName(), the name of the code in upstream's words, and
// IsRejected(), which is false for success and errors.
class AttemptReport {
 public:
  AttemptReport();  // reports nothing
  // `number` is 1 for the pod's first attempt. `trace` must outlive the report.
  AttemptReport(Trace& trace, const Pod& pod, int number);
  // `filters` has pointers to all filter plugins, in their order.
  template <class Plugins>
  AttemptReport(Trace& trace, const Pod& pod, int number,
                const Plugins& filters)
      : AttemptReport(trace, pod, number) {
    if (!data_) return;
    for (const auto* plugin : filters) AddFilter(plugin->Name());
  }
  ~AttemptReport();
  AttemptReport(const AttemptReport& other);
  AttemptReport(AttemptReport&& other) noexcept;
  AttemptReport& operator=(AttemptReport other) noexcept;

  // False if nobody reads the report.
  bool is_read() const { return data_ != nullptr; }

  // Reports the status of a plugin at an extension point other than Filter and
  // Score, for example "PreFilter". `message` replaces the status's message
  // unless it is empty.
  template <class Status>
  void Ran(std::string_view point, std::string_view plugin,
           const Status& status, std::string_view message = {}) const {
    if (!data_) return;
    AddPoint(
        {.point = std::string(point),
         .plugin = std::string(plugin),
         .status = std::string(status.CodeName()),
         .message = message.empty() ? status.Message() : std::string(message)});
  }
  // Reports that a Permit plugin asks the pod to wait.
  void Waits(std::string_view plugin, Clock::Duration timeout) const {
    if (data_) AddWait(plugin, timeout);
  }

  // Reports that the pod fits the node. The call for the first such node ends
  // the search for all rejections.
  void Fits(const std::string& node) const {
    if (data_) AddFit(node);
  }
  // Reports that a filter plugin has rejected the node, unless its status is an
  // error. A `plugin` without name excludes the node before Filter. Returns
  // true if a reader also asks for the rejections by the plugins that follow.
  // These calls must follow each other. If the node was reported before, the
  // new results replace the old ones.
  template <class Status>
  bool Rejected(const std::string& node, std::string_view plugin,
                const Status& status) const {
    return data_ && status.IsRejected() &&
           AddRejection(node, plugin, status.reasons());
  }

  // Reports the scores by one plugin, in the order of the nodes that fit:
  // `raw` as Score sets them, and `normalized`, whose elements have a `score`.
  template <class Scores>
  void Scored(std::string_view plugin, std::int64_t weight,
              const std::vector<std::int64_t>& raw,
              const Scores& normalized) const {
    CountScores(plugin, raw.size());
    if (!data_) return;
    ScoreColumn column{.plugin = std::string(plugin), .weight = weight};
    column.raw = raw;
    column.normalized.reserve(normalized.size());
    for (const auto& node : normalized) column.normalized.push_back(node.score);
    AddScores(std::move(column));
  }

  // End the scheduling cycle, or the attempt, and add its record to the trace.
  void Selected(const std::string& node) const {
    if (data_) AddRecord(&node, {});
  }
  void Bound() const {
    if (data_) AddRecord(nullptr, {});
  }
  // REQUIRES: `message` is not empty.
  void Failed(const std::string& message) const {
    if (data_) AddRecord(nullptr, message);
  }

 private:
  struct Data;

  void AddFilter(std::string_view plugin) const;
  void AddPoint(PointResult result) const;
  void AddWait(std::string_view plugin, Clock::Duration timeout) const;
  void AddFit(const std::string& node) const;
  bool AddRejection(const std::string& node, std::string_view plugin,
                    const std::vector<std::string>& reasons) const;
  void CountScores(std::string_view plugin, std::size_t nodes) const;
  void AddScores(ScoreColumn column) const;
  void AddRecord(const std::string* node, const std::string& failure) const;

  Trace* trace_ = nullptr;      // null: reports nothing
  std::string scheduler_name_;  // of the pod
  std::unique_ptr<Data> data_;  // null: nobody reads the attempt
};

}  // namespace minisched
