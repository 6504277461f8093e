#include "minisched/trace/attempt_report.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "minisched/base/fake_clock.h"
#include "minisched/trace/trace.h"
#include "minisched/trace/trace_testing.h"

namespace minisched {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// What a plugin returns: success without reasons, else a rejection or an error.
class Status {
 public:
  Status() = default;
  explicit Status(std::string reason, bool is_error = false)
      : reasons_{std::move(reason)}, is_error_(is_error) {}

  bool IsRejected() const { return !reasons_.empty() && !is_error_; }
  const std::vector<std::string>& reasons() const { return reasons_; }
  std::string Message() const { return reasons_.empty() ? "" : reasons_[0]; }
  std::string_view CodeName() const {
    return is_error_ ? "Error" : IsRejected() ? "Unschedulable" : "Success";
  }

 private:
  std::vector<std::string> reasons_;
  bool is_error_ = false;
};

struct FilterPlugin {
  std::string_view Name() const { return name; }
  std::string_view name;
};

struct Score {
  std::int64_t score;
};

// Returns a line for each node: "a fits", or its rejections.
std::vector<std::string> Nodes(const Attempt& attempt) {
  std::vector<std::string> texts;
  for (const std::string& node : attempt.fits) texts.push_back(node + " fits");
  for (const RejectedNode& node : attempt.rejected) {
    std::string& text = texts.emplace_back(node.node);
    for (const Rejection& one : node.rejections) {
      text += fmt::format("; {}: {}", one.plugin, fmt::join(one.reasons, ", "));
    }
  }
  return texts;
}

std::vector<std::string> Points(const Attempt& attempt) {
  std::vector<std::string> texts;
  for (const PointResult& one : attempt.points) {
    texts.push_back(fmt::format("{} {}: {} {}", one.point, one.plugin,
                                one.status, one.message));
  }
  return texts;
}

class AttemptReportTest : public ::testing::Test {
 protected:
  void Read(AttemptDetail detail = AttemptDetail::kFirstRejections) {
    reader_.emplace(trace_, detail, TraceStart::kOldest);
  }

  AttemptReport NewReport() {
    static const FilterPlugin name{"NodeName"};
    static const FilterPlugin taint{"Taint"};
    return {trace_, TracedPod("web"), 1, std::vector{&name, &taint}};
  }

  // Returns the attempts that the reader has not returned yet.
  std::vector<Attempt> TakeAttempts() {
    std::vector<Attempt> attempts;
    for (const RecordPtr& record : reader_->Poll()) {
      const auto* attempt = std::get_if<Attempt>(&record->state);
      if (attempt != nullptr) attempts.push_back(*attempt);
    }
    return attempts;
  }
  Attempt TakeAttempt() {
    std::vector<Attempt> attempts = TakeAttempts();
    EXPECT_EQ(attempts.size(), 1);
    return attempts.empty() ? Attempt() : attempts.back();
  }

  FakeClock clock_;
  Trace trace_{"minisched", clock_};
  std::optional<TraceReader> reader_;
};

TEST_F(AttemptReportTest, RecordsTheResultsOfTheSchedulingCycle) {
  Read();
  const AttemptReport report = NewReport();
  report.Ran("PreFilter", "NodeName", Status());
  report.Rejected("a", "Taint", Status("tainted"));
  report.Fits("b");
  report.Rejected("c", "NodeName", Status("another name"));
  report.Fits("d");
  report.Scored("Taint", 3, {7, 14}, std::vector<Score>{{50}, {100}});
  EXPECT_THAT(TakeAttempts(), IsEmpty());
  report.Selected("d");

  const Attempt attempt = TakeAttempt();
  EXPECT_EQ(attempt.pod, "shop/web");
  EXPECT_EQ(attempt.uid, "web");
  EXPECT_EQ(attempt.number, 1);
  EXPECT_THAT(attempt.filters, ElementsAre("NodeName", "Taint"));
  EXPECT_THAT(Points(attempt), ElementsAre("PreFilter NodeName: Success "));
  EXPECT_THAT(Nodes(attempt),
              ElementsAre("b fits", "d fits", "a; Taint: tainted",
                          "c; NodeName: another name"));
  ASSERT_EQ(attempt.scores.size(), 1);
  EXPECT_EQ(attempt.scores[0].plugin, "Taint");
  EXPECT_EQ(attempt.scores[0].weight, 3);
  EXPECT_THAT(attempt.scores[0].raw, ElementsAre(7, 14));
  EXPECT_THAT(attempt.scores[0].normalized, ElementsAre(50, 100));
  EXPECT_EQ(attempt.node, "d");
  EXPECT_EQ(attempt.failure, "");
  EXPECT_EQ(attempt.all_nodes, 4);
}

TEST_F(AttemptReportTest, TheSecondRecordExtendsTheFirst) {
  Read();
  const AttemptReport report = NewReport();
  report.Fits("a");
  report.Selected("a");
  report.Ran("Reserve", "Volumes", Status());
  report.Waits("Group", 90s);
  report.Ran("Bind", "Binder", Status("refused", /*is_error=*/true));
  report.Failed("running Bind plugin: refused");

  const std::vector<Attempt> attempts = TakeAttempts();
  ASSERT_EQ(attempts.size(), 2);
  EXPECT_THAT(Points(attempts[1]), ElementsAre("Reserve Volumes: Success ",
                                               "Permit Group: Wait 1m30s",
                                               "Bind Binder: Error refused"));
  EXPECT_THAT(Nodes(attempts[1]), ElementsAre("a fits"));
  EXPECT_EQ(attempts[1].node, "a");
  EXPECT_EQ(attempts[1].failure, "running Bind plugin: refused");
}

TEST_F(AttemptReportTest, ABoundPodHasNoFailure) {
  Read();
  const AttemptReport report = NewReport();
  report.Fits("a");
  report.Selected("a");
  report.Ran("Bind", "Binder", Status());
  report.Bound();
  const std::vector<Attempt> attempts = TakeAttempts();
  ASSERT_EQ(attempts.size(), 2);
  EXPECT_THAT(Points(attempts[1]), ElementsAre("Bind Binder: Success "));
  EXPECT_EQ(attempts[1].node, "a");
  EXPECT_EQ(attempts[1].failure, "");
}

TEST_F(AttemptReportTest, AMessageReplacesThatOfTheStatus) {
  Read();
  const AttemptReport report = NewReport();
  report.Ran("PostFilter", "Preemption", Status(), "node-1");
  report.Failed("no node");
  EXPECT_THAT(Points(TakeAttempt()),
              ElementsAre("PostFilter Preemption: Success node-1"));
}

TEST_F(AttemptReportTest, AsksForTheFirstRejectionOfANode) {
  Read();
  const AttemptReport report = NewReport();
  EXPECT_FALSE(report.Rejected("a", "NodeName", Status("another name")));
  report.Failed("no node");
  EXPECT_FALSE(TakeAttempt().all_rejections);
}

TEST_F(AttemptReportTest, AsksForAllRejectionsIfAReaderDoes) {
  Read(AttemptDetail::kAllRejections);
  const AttemptReport report = NewReport();
  EXPECT_TRUE(report.Rejected("a", "NodeName", Status("another name")));
  EXPECT_TRUE(report.Rejected("a", "Taint", Status("tainted")));
  EXPECT_TRUE(report.Rejected("b", "Taint", Status("tainted")));
  report.Failed("no node");
  const Attempt attempt = TakeAttempt();
  EXPECT_TRUE(attempt.all_rejections);
  EXPECT_THAT(Nodes(attempt),
              ElementsAre("a; NodeName: another name; Taint: tainted",
                          "b; Taint: tainted"));
}

TEST_F(AttemptReportTest, KeepsTheFirstRejectionsOfAPodThatFitsANode) {
  Read(AttemptDetail::kAllRejections);
  const AttemptReport report = NewReport();
  report.Rejected("a", "NodeName", Status("another name"));
  report.Rejected("a", "Taint", Status("tainted"));
  report.Fits("b");
  EXPECT_FALSE(report.Rejected("c", "NodeName", Status("another name")));
  report.Selected("b");
  const Attempt attempt = TakeAttempt();
  EXPECT_FALSE(attempt.all_rejections);
  EXPECT_THAT(Nodes(attempt), ElementsAre("b fits", "a; NodeName: another name",
                                          "c; NodeName: another name"));
}

TEST_F(AttemptReportTest, ExcludedNodesComeLast) {
  Read();
  const AttemptReport report = NewReport();
  report.Rejected("a", "", Status("excluded"));
  report.Rejected("b", "", Status("excluded"));
  report.Rejected("c", "Taint", Status("tainted"));
  report.Failed("no node");
  EXPECT_THAT(
      Nodes(TakeAttempt()),
      ElementsAre("c; Taint: tainted", "a; : excluded", "b; : excluded"));
}

// Then the search ends, and the failure is the record's.
TEST_F(AttemptReportTest, AnErrorIsNoRejection) {
  Read(AttemptDetail::kAllRejections);
  const AttemptReport report = NewReport();
  report.Rejected("a", "NodeName", Status("another name"));
  EXPECT_FALSE(report.Rejected("a", "Taint", Status("no data", true)));
  report.Failed("no data");
  EXPECT_THAT(Nodes(TakeAttempt()), ElementsAre("a; NodeName: another name"));
}

// As the nominated node is: alone, then with all others.
TEST_F(AttemptReportTest, TheSecondCheckOfANodeReplacesTheFirst) {
  for (const std::string nominated : {"a", "b"}) {
    Read(AttemptDetail::kAllRejections);
    const AttemptReport report = NewReport();
    report.Rejected(nominated, "NodeName", Status("then"));
    report.Rejected(nominated, "Taint", Status("then"));
    for (const std::string node : {"a", "b"}) {
      report.Rejected(node, "NodeName", Status("now"));
    }
    report.Failed("no node");
    EXPECT_THAT(Nodes(TakeAttempts().back()),
                ElementsAre("a; NodeName: now", "b; NodeName: now"));
  }
}

TEST_F(AttemptReportTest, ANodeThatFitsAtItsSecondCheckIsNotRejected) {
  Read();
  const AttemptReport report = NewReport();
  report.Rejected("a", "NodeName", Status("then"));
  report.Fits("a");
  report.Selected("a");
  EXPECT_THAT(Nodes(TakeAttempt()), ElementsAre("a fits"));
}

TEST_F(AttemptReportTest, ACopyReportsNothing) {
  Read();
  const AttemptReport report = NewReport();
  AttemptReport copy;
  copy = report;
  copy.Rejected("a", "NodeName", Status("tried out"));
  copy.Failed("tried out");
  EXPECT_FALSE(copy.is_read());
  EXPECT_THAT(TakeAttempts(), IsEmpty());
  report.Failed("no node");
  EXPECT_THAT(Nodes(TakeAttempt()), IsEmpty());
}

TEST_F(AttemptReportTest, AMovedReportGoesOn) {
  Read();
  AttemptReport report = NewReport();
  report.Fits("a");
  report.Selected("a");
  const AttemptReport moved = std::move(report);
  moved.Failed("refused");
  const std::vector<Attempt> attempts = TakeAttempts();
  ASSERT_EQ(attempts.size(), 2);
  EXPECT_EQ(attempts[1].failure, "refused");
}

TEST_F(AttemptReportTest, IsEmptyIfNobodyReadsAttempts) {
  const AttemptReport report = NewReport();
  EXPECT_FALSE(report.is_read());
  EXPECT_FALSE(report.Rejected("a", "NodeName", Status("another name")));
  Read();
  report.Failed("no node");
  EXPECT_THAT(TakeAttempts(), IsEmpty());
}

TEST_F(AttemptReportTest, ScoredNodesAreCountedWithoutReaders) {
  std::size_t scored = 0;
  Trace trace("minisched", clock_, {}, {}, "",
              [&](const std::string& scheduler_name, std::string_view plugin,
                  std::size_t nodes) {
                EXPECT_EQ(scheduler_name, "minisched");
                EXPECT_EQ(plugin, "Taint");
                scored += nodes;
              });
  Pod pod = TracedPod("web");
  pod.spec.scheduler_name = "minisched";
  const AttemptReport report(trace, pod, 1);
  report.Scored("Taint", 3, {7, 14}, std::vector<Score>{{50}, {100}});
  EXPECT_EQ(scored, 2);
  AttemptReport(report).Scored("Taint", 3, {7}, std::vector<Score>{{50}});
  EXPECT_EQ(scored, 2);
}

TEST_F(AttemptReportTest, AFailureIsKeptForLaterReaders) {
  trace_.KeepFailures();
  trace_.Moved(TracedPod("web"), Place::kInFlight);
  const AttemptReport report = NewReport();
  report.Ran("PreFilter", "NodeName", Status());
  EXPECT_FALSE(report.Rejected("a", "Taint", Status("tainted")));
  report.Failed("no node");
  Read();
  const Attempt attempt = TakeAttempt();
  EXPECT_THAT(Nodes(attempt), ElementsAre("a; Taint: tainted"));
  EXPECT_THAT(Points(attempt), ElementsAre("PreFilter NodeName: Success "));
  EXPECT_EQ(attempt.failure, "no node");
}

// The nodes of a successful scheduling cycle are not kept.
TEST_F(AttemptReportTest, AFailedBindingIsKeptForLaterReaders) {
  trace_.KeepFailures();
  trace_.Moved(TracedPod("web"), Place::kInFlight);
  const AttemptReport report = NewReport();
  report.Rejected("a", "Taint", Status("tainted"));
  report.Fits("b");
  report.Rejected("c", "Taint", Status("tainted"));
  report.Scored("Taint", 3, {7}, std::vector<Score>{{50}});
  report.Selected("b");
  report.Ran("Bind", "Binder", Status("refused", /*is_error=*/true));
  report.Failed("refused");
  Read();
  const Attempt attempt = TakeAttempt();
  EXPECT_THAT(Nodes(attempt), IsEmpty());
  EXPECT_THAT(Points(attempt), ElementsAre("Bind Binder: Error refused"));
  EXPECT_EQ(attempt.node, "b");
}

}  // namespace
}  // namespace minisched
