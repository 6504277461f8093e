#include "lab/scenario/report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>

namespace minisched::scenario {
namespace {

constexpr char kBold[] = "1";
constexpr char kRed[] = "31";
constexpr char kGreen[] = "32";
constexpr char kGrey[] = "90";

// Wraps text at 78 columns.
std::string Wrap(const std::string& text, const std::string& indent) {
  constexpr std::size_t kWidth = 78;
  std::istringstream words(text);
  std::string wrapped;
  std::string line;
  for (std::string word; words >> word;) {
    if (!line.empty() &&
        indent.size() + line.size() + 1 + word.size() > kWidth) {
      wrapped += indent + line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return wrapped + indent + line + "\n";
}

}  // namespace

std::string TextReport::Paint(const char* code, const std::string& text) const {
  return colour_ ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : text;
}

void TextReport::Begin(const Scenario& scenario) {
  why_ = scenario.why;
  out_ << Paint(kBold, scenario.title) << "  " << Paint(kGrey, scenario.file)
       << "\n";
  std::string names;
  for (const Manifest& node : scenario.nodes) {
    names += (names.empty() ? "" : ", ") + node.name;
  }
  if (!names.empty()) WriteStep("nodes " + names);
}

void TextReport::WriteStep(const std::string& what) {
  out_ << "  " << what << std::endl;
}

void TextReport::BeginExpectation(const std::string& what) {
  out_ << "  expect " << what << std::flush;
}

void TextReport::EndExpectation(std::chrono::duration<double> after,
                                bool as_expected) {
  const std::string mark = as_expected ? Paint(kGreen, "✓") : Paint(kRed, "✗");
  out_ << " " << mark << fmt::format(" {:.1f} s", after.count()) << std::endl;
}

void TextReport::End(const Result& result) {
  const std::string took = fmt::format(" in {:.1f} s", result.took.count());
  if (!result.failure) {
    out_ << "  " << Paint(kGreen, "passed") << took << "\n" << std::endl;
    return;
  }
  const Failure& failure = *result.failure;
  out_ << "  " << Paint(kRed, "FAILED") << took << "\n"
       << "    expected: " << failure.expected << "\n"
       << "    found:    " << failure.found << "\n";
  for (const std::string& line : failure.pods) out_ << "    " << line << "\n";
  out_ << "    why it matters:\n";
  out_ << Wrap(why_, "      ");
  WriteLog("the scheduler's last log lines", failure.log);
  for (const auto& [program, log] : failure.program_logs) {
    WriteLog("the last lines of " + program, log);
  }
  out_ << std::endl;
}

void TextReport::WriteLog(const std::string& title, const std::string& log) {
  if (log.empty()) return;
  out_ << "    " << title << ":\n";
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    out_ << "      " << Paint(kGrey, line) << "\n";
  }
}

std::string ToJsonLine(const Scenario& scenario, const Result& result) {
  nlohmann::ordered_json json = {{"file", scenario.file},
                                 {"title", scenario.title},
                                 {"passed", !result.failure},
                                 {"seconds", result.took.count()}};
  if (result.failure) {
    json["failure"] = {{"expected", result.failure->expected},
                       {"found", result.failure->found},
                       {"pods", result.failure->pods},
                       {"log", result.failure->log}};
    if (!result.failure->program_logs.empty()) {
      json["failure"]["programLogs"] = result.failure->program_logs;
    }
  }
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string ToJsonLine(const Scenario& scenario) {
  const nlohmann::ordered_json json = {
      {"file", scenario.file},
      {"title", scenario.title},
      {"since", scenario.since},
      {"notUpstream", scenario.not_upstream},
      {"needsConfig", !scenario.config.empty()},
      {"needsEmbedded", scenario.needs_embedded},
      {"needsScheduler", scenario.needs_scheduler},
      {"needsMetrics", scenario.needs_metrics}};
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace minisched::scenario
