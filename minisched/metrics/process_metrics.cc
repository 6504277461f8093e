#include "minisched/metrics/process_metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>

namespace minisched {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

// The fields of /proc/self/stat, proc_pid_stat(5), counted from the third.
constexpr int kStartTime = 22 - 3;
constexpr int kVirtualSize = 23 - 3;
constexpr int kResidentPages = 24 - 3;

std::string ReadFile(const char* name) {
  std::ifstream file(name);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Returns the numbers after the program's name, which may contain blanks and
// parentheses. Returns 0 for the state, which is a letter.
std::vector<double> ReadStat() {
  std::string text = ReadFile("/proc/self/stat");
  text.erase(0, text.rfind(')') + 1);
  std::istringstream words(text);
  std::vector<double> numbers;
  for (std::string word; words >> word;) {
    numbers.push_back(std::strtod(word.c_str(), nullptr));
  }
  return numbers;
}

// Returns when the system started, in seconds since 1970.
std::optional<double> ReadBootTime() {
  std::istringstream lines(ReadFile("/proc/stat"));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("btime ")) return std::stod(line.substr(6));
  }
  return std::nullopt;
}

std::optional<double> CountOpenFiles() {
  std::error_code error;
  std::filesystem::directory_iterator files("/proc/self/fd", error);
  if (error) return std::nullopt;
  // One of the files is the folder that is being read.
  return static_cast<double>(std::distance(begin(files), end(files)) - 1);
}

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) +
           static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Collects families of one metric each.
class Collector {
 public:
  void Add(MetricType type, const char* name, const char* help,
           std::optional<double> value) {
    if (!value) return;
    prometheus::ClientMetric metric;
    metric.counter.value = metric.gauge.value = *value;
    families_.push_back(
        {.name = name, .help = help, .type = type, .metric = {metric}});
  }
  void AddGauge(const char* name, const char* help,
                std::optional<double> value) {
    Add(MetricType::Gauge, name, help, value);
  }

  std::vector<MetricFamily> Take() { return std::move(families_); }

 private:
  std::vector<MetricFamily> families_;
};

void AddStat(Collector& all) {
  const std::vector<double> stat = ReadStat();
  if (stat.size() <= kResidentPages) return;
  all.AddGauge("process_virtual_memory_bytes", "Virtual memory size in bytes.",
               stat[kVirtualSize]);
  all.AddGauge(
      "process_resident_memory_bytes", "Resident memory size in bytes.",
      stat[kResidentPages] * static_cast<double>(sysconf(_SC_PAGESIZE)));
  if (const auto boot = ReadBootTime()) {
    all.AddGauge(
        "process_start_time_seconds",
        "Start time of the process since unix epoch in seconds.",
        *boot + stat[kStartTime] / static_cast<double>(sysconf(_SC_CLK_TCK)));
  }
}

}  // namespace

std::vector<MetricFamily> ProcessMetrics() {
  Collector all;
  all.Add(MetricType::Counter, "process_cpu_seconds_total",
          "Total user and system CPU time spent in seconds.", CpuSeconds());
  AddStat(all);
  all.AddGauge("process_open_fds", "Number of open file descriptors.",
               CountOpenFiles());
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    all.AddGauge("process_max_fds", "Maximum number of open file descriptors.",
                 static_cast<double>(files.rlim_cur));
  }
  return all.Take();
}

}  // namespace minisched
