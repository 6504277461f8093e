#include "minisched/trace/attempt_report.h"

#include <algorithm>
#include <utility>

#include "minisched/api/duration.h"
#include "minisched/trace/trace.h"

namespace minisched {

struct AttemptReport::Data {
  // Returns the results so far, and forgets them.
  Attempt Take() {
    Attempt taken = std::exchange(attempt, {.pod = attempt.pod,
                                            .uid = attempt.uid,
                                            .number = attempt.number,
                                            .node = attempt.node});
    taken.all_rejections = all_rejections;
    // At last those that were excluded before Filter.
    std::stable_partition(rejected.begin(), rejected.end(),
                          [](const RejectedNode& of) {
                            return !of.rejections.front().plugin.empty();
                          });
    if (!all_rejections) {
      // The nodes before the first one that fits may have more than one.
      for (RejectedNode& of : rejected) of.rejections.resize(1);
    }
    taken.fits = std::exchange(fits, {});
    taken.rejected = std::exchange(rejected, {});
    taken.scores = std::exchange(scores, {});
    return taken;
  }

  // Removes the results of a node that is checked again. Only the first one can
  // be: a nominated node is checked alone, and again if the pod doesn't fit it.
  void Forget(const std::string& node) {
    if (!rejected.empty() && rejected.front().node == node) {
      rejected.erase(rejected.begin());
    }
  }

  Attempt attempt;
  bool is_read;         // else only the trace keeps the attempt, if it fails
  bool all_rejections;  // until the pod fits a node
  bool fits_a_node = false;
  std::vector<std::string> fits;
  std::vector<RejectedNode> rejected;
  std::vector<ScoreColumn> scores;
};

AttemptReport::AttemptReport() = default;
AttemptReport::~AttemptReport() = default;
AttemptReport::AttemptReport(const AttemptReport& /*other*/) {}
AttemptReport::AttemptReport(AttemptReport&& other) noexcept = default;
AttemptReport& AttemptReport::operator=(AttemptReport other) noexcept {
  trace_ = other.trace_;
  scheduler_name_ = std::move(other.scheduler_name_);
  data_ = std::move(other.data_);
  return *this;
}

AttemptReport::AttemptReport(Trace& trace, const Pod& pod, int number)
    : trace_(&trace), scheduler_name_(pod.spec.scheduler_name) {
  if (!trace.has_attempt_readers() && !trace.keeps_failures()) return;
  data_ = std::make_unique<Data>(
      Data{.attempt = {.pod = ObjectName(pod.metadata),
                       .uid = pod.metadata.uid,
                       .number = number},
           .is_read = trace.has_attempt_readers(),
           .all_rejections = trace.wants_all_rejections()});
}

void AttemptReport::AddFilter(std::string_view plugin) const {
  data_->attempt.filters.emplace_back(plugin);
}

void AttemptReport::AddPoint(PointResult result) const {
  data_->attempt.points.push_back(std::move(result));
}

void AttemptReport::AddWait(std::string_view plugin,
                            Clock::Duration timeout) const {
  AddPoint({.point = "Permit",
            .plugin = std::string(plugin),
            .status = "Wait",
            .message = FormatGoDuration(timeout)});
}

void AttemptReport::AddFit(const std::string& node) const {
  data_->fits_a_node = true;
  data_->all_rejections = false;
  data_->Forget(node);
  if (data_->is_read) {
    data_->fits.push_back(node);
  } else {
    data_->rejected.clear();  // not needed unless the pod fits no node
  }
}

bool AttemptReport::AddRejection(
    const std::string& node, std::string_view plugin,
    const std::vector<std::string>& reasons) const {
  if (!data_->is_read && data_->fits_a_node) return false;
  std::vector<RejectedNode>& rejected = data_->rejected;
  const bool is_last = !rejected.empty() && rejected.back().node == node;
  if (!is_last || std::ranges::count(rejected.back().rejections, plugin,
                                     &Rejection::plugin) > 0) {
    data_->Forget(node);
    rejected.push_back({.node = node, .rejections = {}});
  }
  rejected.back().rejections.push_back(
      {.plugin = std::string(plugin), .reasons = reasons});
  return data_->all_rejections;
}

void AttemptReport::CountScores(std::string_view plugin,
                                std::size_t nodes) const {
  if (trace_ != nullptr) trace_->Scored(scheduler_name_, plugin, nodes);
}

void AttemptReport::AddScores(ScoreColumn column) const {
  if (data_->is_read) data_->scores.push_back(std::move(column));
}

void AttemptReport::AddRecord(const std::string* node,
                              const std::string& failure) const {
  if (node != nullptr) data_->attempt.node = *node;
  Attempt attempt = data_->Take();
  attempt.failure = failure;
  trace_->Tried([&] { return std::move(attempt); }, !failure.empty());
}

}  // namespace minisched
