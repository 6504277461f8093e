#include "lab/explain/running_scheduler.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "lab/apiserver/object.h"
#include "lab/explain/errors.h"
#include "minisched/base/clock.h"
#include "minisched/client/errors.h"
#include "minisched/client/transport.h"

namespace minisched::explain {
namespace {

using apiserver::Get;
using apiserver::GetInt;
using apiserver::GetString;
using apiserver::Json;

// The scheduler sends an empty line every 15 s.
constexpr std::chrono::seconds kSilence{60};

// What the trace has of the pod and of activeQ.
class PodState {
 public:
  explicit PodState(std::string pod) : pod_name_(std::move(pod)) {}

  // Reads the earlier records, which an empty line ends. If the pod is not
  // among them, reads on up to a record of the pod, or for about `patience`.
  void Read(HttpStream& stream, std::chrono::milliseconds patience) {
    const auto deadline = RealClock().Now() + patience;
    bool is_earlier = true;
    while (const auto line = stream.ReadLine()) {
      if (!line->empty()) {
        ReadRecord(Json::parse(*line, nullptr, /*allow_exceptions=*/false));
      }
      is_earlier = is_earlier && !line->empty();
      if (is_earlier) continue;
      if (!pod_.is_null() || RealClock().Now() >= deadline) return;
    }
  }

  std::vector<std::string> Lines() const {
    const std::string who = "the running scheduler " + program_;
    if (pod_.is_null()) return {fmt::format("{} has no {}", who, pod_name_)};
    const Json& pod = pod_["pod"];
    std::string line =
        fmt::format("{}: {} is {} since {}", who, pod_name_,
                    GetString(pod, "place"), GetString(pod_, "time"));
    if (GetString(pod, "place") == "active") line += Position();
    if (const auto attempts = GetInt(pod, "attempts"); attempts > 0) {
      line += fmt::format(", attempts: {}", attempts);
    }
    if (const auto until = GetString(pod, "until"); !until.empty()) {
      const bool may_wake = GetString(pod, "place") == "unschedulable";
      line += ", next attempt at " + until;
      if (may_wake) line += " at the latest";
    }
    std::vector<std::string> lines = {line};
    for (const auto& [member, text] : {std::pair("plugins", "rejected by"),
                                       {"wakes", "events that may wake it"}}) {
      const auto words = pod.value(member, std::vector<std::string>());
      if (words.empty()) continue;
      lines.push_back(fmt::format("  {}: {}", text, fmt::join(words, ", ")));
    }
    return lines;
  }

 private:
  void ReadRecord(const Json& record) {
    if (!record.is_object()) return;
    if (GetString(record, "pod", "name") == pod_name_) pod_ = record;
    if (record.contains("queue")) queue_ = record["queue"];
    if (record.contains("scheduler")) {
      program_ = GetString(record, "scheduler", "program");
    }
  }

  std::string Position() const {
    const Json& active = Get(queue_, "active");
    const auto place = std::ranges::find(active, pod_["pod"]["uid"]);
    if (place == active.end()) return "";
    return fmt::format(", position {} of {}", place - active.begin() + 1,
                       GetInt(queue_, "length"));
  }

  const std::string pod_name_;
  std::string program_;
  Json pod_;
  Json queue_;
};

}  // namespace

std::vector<std::string> AskRunningScheduler(
    const std::string& url, const std::string& pod, const std::stop_token& stop,
    std::chrono::milliseconds patience) {
  PodState state(pod);
  try {
    RestConfig config;
    config.server = url;
    config.source = "--trace";
    Transport transport(config);
    const auto stream = transport.Open(
        {.method = "GET", .path = "/debug/trace"}, kSilence, stop);
    if (const int status = stream->head().status; status != 200) {
      throw CannotTell(
          fmt::format("--trace {}: {}: {}", url, status, stream->head().body));
    }
    state.Read(*stream, patience);
  } catch (const TransportError& error) {
    throw CannotTell(
        fmt::format("--trace: {}: is the scheduler running, with "
                    "--metrics-port?",
                    error.what()));
  } catch (const ConfigError& error) {
    throw CannotTell(error.what());
  }
  return state.Lines();
}

}  // namespace minisched::explain
