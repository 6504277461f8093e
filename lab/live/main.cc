// minisched-live: a live page for any scheduler, and for recordings.
#include <fmt/format.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iostream>
#include <limits>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>

#include "lab/live/access.h"
#include "lab/live/export.h"
#include "lab/live/live_server.h"
#include "lab/live/moment.h"
#include "lab/live/recording.h"
#include "lab/live/serve_cluster.h"
#include "minisched/base/clock.h"
#include "minisched/base/printable.h"
#include "minisched/cli/flags.h"
#include "minisched/cli/logging.h"
#include "minisched/cli/signals.h"
#include "minisched/client/errors.h"

namespace {

namespace live = minisched::live;

struct Options {
  live::ClusterOptions cluster;
  int port = 0;
  std::string replay;
  std::optional<std::uint64_t> at;
  std::string before;
  std::string export_to;
};

// Returns what is wrong with the flags, and what to do; "" if nothing is.
std::string CheckFlags(const Options& options) {
  const live::ClusterOptions& cluster = options.cluster;
  const bool shows_moment =
      !options.before.empty() || !options.export_to.empty();
  if (options.replay.empty() && (options.at || shows_moment)) {
    return "--at, --before and --export need a recording: add --replay FILE";
  }
  if (options.at && shows_moment) {
    return "--at prints objects instead of a page: leave out --before and "
           "--export";
  }
  const bool has_cluster_flags =
      !cluster.config.kubeconfig.empty() || !cluster.config.context.empty() ||
      !cluster.records.empty() || !cluster.trace.empty() ||
      !cluster.scheduler.empty() || !cluster.config_file.empty() ||
      cluster.control;
  if (!options.replay.empty() && has_cluster_flags) {
    return "--replay needs no cluster: pass only --port, --at, --before or "
           "--export with it";
  }
  if (cluster.scheduler.empty() && !cluster.config_file.empty()) {
    return "--config is for a scheduler that this program starts: add "
           "--scheduler COMMAND";
  }
  if (!cluster.trace.empty() && !cluster.records.empty()) {
    return "--trace has the records too: leave out --records";
  }
  // The scheduler would use another cluster than the page.
  if (!cluster.scheduler.empty() && !cluster.config.context.empty()) {
    return "--context does not reach the scheduler, which reads $KUBECONFIG: "
           "use a kubeconfig whose current context is the one you want";
  }
  return "";
}

void WriteFile(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text << std::flush;
  if (!file) throw std::runtime_error(path + ": " + std::strerror(errno));
}

// Warns if a page does not keep the whole recording: see page/history.js.
void CheckSize(const std::string& path, const live::Recording& recording) {
  constexpr std::size_t kMaxItems = 60'000;
  constexpr std::size_t kMaxMiB = 16;
  std::size_t bytes = 0;
  for (const live::Item& item : recording.items()) {
    bytes += item.json.size();
  }
  if (recording.items().size() <= kMaxItems && bytes <= kMaxMiB << 20) return;
  spdlog::warn(
      "{} has {} changes in {} MiB, which is too much for a page: the timeline "
      "keeps about the last {} changes, of at most {} MiB",
      path, recording.items().size(), (bytes >> 20) + 1, kMaxItems, kMaxMiB);
}

// Serves a page of the recording until `stop` asks to stop.
void Serve(const live::Recording& recording, unsigned short port,
           std::optional<std::size_t> moment, const std::stop_token& stop) {
  // Pages limit what they keep by themselves.
  live::History history(std::numeric_limits<std::size_t>::max());
  history.Add(recording.items());
  const live::LiveOptions options = {.port = port,
                                     .token = live::NewToken(),
                                     .program = recording.program(),
                                     .scheduler = recording.scheduler(),
                                     .source = "a recording",
                                     .recording = true,
                                     .moment = moment};
  const live::LiveActions actions = {
      .attempt = [&recording](const minisched::http::Request& request,
                              const live::LiveActions::Respond& respond) {
        respond(live::AttemptReply(request.path,
                                   recording.FindAttempt(request.path)));
      }};
  std::optional<live::LiveServer> server;
  try {
    server.emplace(options, history, actions);
  } catch (const std::runtime_error& error) {
    throw minisched::ConfigError(
        fmt::format("--port {}: {}", port, error.what()));
  }
  spdlog::info("live page of the recording: {}", server->url());
  minisched::RealClock().SleepUntil(minisched::Clock::TimePoint::max(), stop);
}

void Replay(const Options& options, const std::stop_token& stop) {
  if (options.at) {
    std::cout << live::ObjectsAt(options.replay, *options.at);
    return;
  }
  const live::Recording recording(options.replay);
  CheckSize(options.replay, recording);
  std::optional<std::size_t> moment;
  if (!options.before.empty()) {
    moment = live::CountBefore(recording, options.before);
  }
  if (options.export_to.empty()) {
    return Serve(recording, static_cast<unsigned short>(options.port), moment,
                 stop);
  }
  WriteFile(options.export_to, ExportPage(recording, moment));
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  minisched::Flags flags(
      "Serves a live page of a cluster and its scheduler, or of a recording, "
      "to browsers on this machine.\n"
      "Exit codes: 0 success, 1 error, 2 wrong flags.");
  live::ClusterOptions& cluster = options.cluster;
  flags.AddNonEmpty("--kubeconfig", &cluster.config.kubeconfig,
                    "Kubeconfig of the cluster; the default is kubectl's");
  flags.AddNonEmpty("--context", &cluster.config.context,
                    "Context of the kubeconfig");
  flags.AddNonEmpty("--scheduler-name", &cluster.scheduler_name,
                    "Show pods with this spec.schedulerName");
  flags.Add("--control", &cluster.control,
            "Let the page change the cluster, and the configuration of "
            "--config; implied on the embedded API server");
  flags.AddNonEmpty("--trace", &cluster.trace,
                    "Show the scheduler that serves its trace at this URL: "
                    "that of its --metrics-port, such as "
                    "http://127.0.0.1:10251. It may be the one of --scheduler");
  flags.AddNonEmpty("--records", &cluster.records,
                    "Show the records that the scheduler appends to this file, "
                    "or writes to standard input (-): see "
                    "docs/reference/trace.md");
  flags.AddNonEmpty("--scheduler", &cluster.scheduler,
                    "Start the scheduler too, with this shell command. It "
                    "finds $KUBECONFIG, $SCHEDULER_NAME, $SCHEDULER_CONFIG and "
                    "$METRICS_PORT. If the command uses the last one, and no "
                    "--config, show the trace there");
  flags.AddNonEmpty(
      "--config", &cluster.config_file,
      "The scheduler's configuration. The page edits a copy of "
      "this file, and restarts the scheduler. $SCHEDULER_CONFIG "
      "also has the cluster of --kubeconfig, no leader election, "
      "and the name of --scheduler-name for profiles without one");
  flags.Add("--port", &options.port, "Port of the page; 0 picks a free one", 0,
            65535);
  flags.AddNonEmpty("--replay", &options.replay,
                    "Show this recording: a file of --record, or one of "
                    "kube-scheduler-simulator");
  flags.Add("--at", &options.at,
            "With --replay: print the objects at the moment of the record with "
            "this sequence, as YAML for kubectl create and "
            "minisched-apiserver --load. In a recording without records, the "
            "number of a line");
  flags.AddNonEmpty("--before", &options.before,
                    "With --replay: first show the moment before the first "
                    "change of this node or pod, instead of the end. "
                    "POD:PLACE: before the pod comes to this place, such as "
                    "web-1:bound. :PLACE: before any pod comes there");
  flags.AddNonEmpty("--export", &options.export_to,
                    "With --replay: write the page to this file, which shows "
                    "the recording without a server");
  if (const auto code = flags.Parse(argc, argv, MINISCHED_VERSION)) {
    return *code;
  }
  if (const std::string error = CheckFlags(options); !error.empty()) {
    std::cerr << "minisched-live: " << error << "\n";
    return 2;
  }
  try {
    minisched::SetUpLogging(0);
    const minisched::StopOnSignal signals;
    if (!options.replay.empty()) {
      Replay(options, signals.token());
    } else {
      cluster.port = static_cast<unsigned short>(options.port);
      ServeCluster(cluster, signals.token());
    }
    return 0;
  } catch (const minisched::Cancelled&) {
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "minisched-live: " << minisched::Printable(error.what())
              << "\n";
    return 1;
  }
}
