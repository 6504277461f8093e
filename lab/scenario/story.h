#pragma once

#include <chrono>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "lab/scenario/scenario.h"

namespace minisched::scenario {

// Why a scenario failed.
struct Failure {
  std::string expected;
  std::string found;
  // What is there: a line for each pod that matters, and its events below it.
  std::vector<std::string> pods;
  std::string log;  // the end of the scheduler's, where we have it
};

struct Result {
  std::optional<Failure> failure;  // none: passed
  std::chrono::duration<double> took{0};
};

// Tells what happens as it happens, for people. Not thread-safe.
class Story {
 public:
  // Writes to `out`, in colour if asked to.
  Story(std::ostream& out, bool colour) : out_(out), colour_(colour) {}

  void Begin(const Scenario& scenario);
  void Does(const std::string& what);
  // An expectation, whose line Saw() completes.
  void Expects(const std::string& what);
  void Saw(std::chrono::duration<double> after, bool as_expected);
  void End(const Result& result);

 private:
  std::string Paint(const char* code, const std::string& text) const;

  std::ostream& out_;
  bool colour_;
  std::string why_;  // the scenario's
};

// The result as one line of JSON.
std::string ToJsonLine(const Scenario& scenario, const Result& result);

// What a scenario needs, as one line of JSON, for scripts.
std::string ToJsonLine(const Scenario& scenario);

}  // namespace minisched::scenario
