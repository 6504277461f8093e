#pragma once

#include <chrono>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lab/scenario/scenario.h"

namespace minisched::scenario {

// Why a scenario failed.
struct Failure {
  std::string expected;
  std::string found;
  // A line for each affected pod, followed by the pod's events. After the pods,
  // a line for each of their nodes that is cordoned or has a taint.
  std::vector<std::string> pods;
  // The scheduler's last log lines; "" if the player did not start a scheduler.
  std::string log;
  // The last lines of what each program of the scenario has written, by name.
  std::map<std::string, std::string> program_logs = {};
};

struct Result {
  std::optional<Failure> failure;  // none: passed
  std::chrono::duration<double> took{0};
};

// Writes the progress and the result of a scenario as text. Not thread-safe.
class TextReport {
 public:
  // `out` must outlive the report.
  TextReport(std::ostream& out, bool colour) : out_(out), colour_(colour) {}

  void Begin(const Scenario& scenario);
  void WriteStep(const std::string& what);
  // Begins a line, which EndExpectation() completes.
  void BeginExpectation(const std::string& what);
  void EndExpectation(std::chrono::duration<double> after, bool as_expected);
  void End(const Result& result);

 private:
  void WriteLog(const std::string& title, const std::string& log);
  std::string Paint(const char* code, const std::string& text) const;

  std::ostream& out_;
  bool colour_;
  std::string why_;  // the scenario's `why`
};

// Returns the result as one line of JSON.
std::string ToJsonLine(const Scenario& scenario, const Result& result);

// Returns the scenario's title and requirements as one line of JSON, for
// scripts.
std::string ToJsonLine(const Scenario& scenario);

}  // namespace minisched::scenario
