#include "minisched/app/app.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <malloc.h>

#include <charconv>
#include <cmath>
#include <exception>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <variant>

#include "minisched/api/parse_error.h"
#include "minisched/app/debug_paths.h"
#include "minisched/app/pod_metrics.h"
#include "minisched/app/slow_start.h"
#include "minisched/base/printable.h"
#include "minisched/cli/logging.h"
#include "minisched/cli/signals.h"
#include "minisched/client/kubeconfig.h"
#include "minisched/metrics/metrics_server.h"
#include "minisched/trace/annotator.h"
#include "minisched/trace/recorder.h"
#include "minisched/trace/trace_log.h"

namespace minisched {
namespace {

constexpr double kMinRate = 0.001;

// Makes all threads allocate from at most two heaps. By default glibc has more,
// and memory that was freed in one heap can't be used by threads that allocate
// from another.
void ShareFreedMemory() {
#ifdef __GLIBC__
  mallopt(M_ARENA_MAX, 2);
#endif
}

// Logs the server and its version, or a warning. Throws if no retry would help.
// Meanwhile, logs what it waits for if this takes long.
void CheckServer(Client& client, const std::stop_token& stop) {
  spdlog::info("connecting to {} ({})", client.config().server,
               client.config().source);
  // Shared, because a request that was stopped may end later.
  const auto start = std::make_shared<SlowStart>(
      "connecting to " + client.config().server, client.clock());
  try {
    const std::string version = client.ServerVersion(
        stop, [weak = std::weak_ptr(start)](const std::string& what) {
          if (const auto slow = weak.lock()) slow->WaitsFor(what);
        });
    spdlog::info("connected to {} ({}), Kubernetes {}", client.config().server,
                 client.config().source, version);
  } catch (const TransportError& error) {
    if (error.kind() == TransportError::Kind::kTls) throw;
    spdlog::warn("not connected yet: {}", error.what());
  } catch (const ApiError& error) {
    if (error.code() == 401) {
      throw ConfigError(client.config().server + ": " + error.what() +
                        ": the server rejects the credentials of " +
                        client.config().source);
    }
    spdlog::warn("failed to get the version of {}: {}", client.config().server,
                 error.what());
  }
}

unsigned short ParsePort(const std::string& text) {
  unsigned short port = 0;
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, port);
  if (result.ec != std::errc() || result.ptr != end) {
    throw ParseError(Quoted(text) +
                     " is not a port: use a number from 0 to 65535");
  }
  return port;
}

// Parses requests per second. A negative rate means no limit, as in client-go.
// A positive rate has a least value, so that no request waits for years.
double ParseRate(const std::string& text) {
  double rate = 0;
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, rate);
  if (result.ec != std::errc() || result.ptr != end || !std::isfinite(rate) ||
      (rate > 0 && rate < kMinRate)) {
    throw ParseError(fmt::format(
        "{} is not a rate: use a number from {}, or 0 or less for no limit",
        Quoted(text), kMinRate));
  }
  return rate;
}

// Returns `text` if it is an IP address without brackets.
std::string ParseAddress(const std::string& text) {
  in6_addr ignored;
  if (inet_pton(AF_INET, text.c_str(), &ignored) != 1 &&
      inet_pton(AF_INET6, text.c_str(), &ignored) != 1) {
    throw ParseError(Quoted(text) +
                     " is not an IP address: use 127.0.0.1, 0.0.0.0, or "
                     "another address of this machine");
  }
  return text;
}

// Counts the pods in each part of the scheduling queue.
PendingPodCounts CountPendingPods(const Trace& trace) {
  std::map<Place, std::size_t> pods;
  for (const RecordPtr& record : trace.LastOfEachPod()) {
    ++pods[std::get<PodRecord>(record->state).place];
  }
  return {.active = pods[Place::kActive],
          .backoff = pods[Place::kBackoff],
          .unschedulable = pods[Place::kUnschedulable],
          .gated = pods[Place::kGated]};
}

// Starts the server of --metrics-port. `metrics`, `trace`, `paths` and `health`
// must outlive the server. Throws ConfigError if the address or the port can't
// be used.
std::unique_ptr<MetricsServer> Serve(const std::string& address,
                                     unsigned short port,
                                     const Metrics& metrics, const Trace& trace,
                                     DebugPaths& paths,
                                     const HealthChecks& health) {
  try {
    auto server = std::make_unique<MetricsServer>(
        address, port,
        [&metrics, &trace] { return metrics.Text(CountPendingPods(trace)); },
        [&paths](const http::Request& request) {
          return paths.Answer(request);
        },
        health);
    spdlog::info("serving metrics and health checks at {}", server->url());
    return server;
  } catch (const std::runtime_error& error) {
    throw ConfigError("--metrics-port " + std::to_string(port) + ": " +
                      error.what());
  }
}

}  // namespace

App::App(const std::string& description) : flags_(description) {
  const RestConfig defaults;
  settings_.qps = defaults.qps;
  settings_.burst = defaults.burst;
  flags_.Add("--kubeconfig", &settings_.kubeconfig,
             "The kubeconfig file; default: $KUBECONFIG, ~/.kube/config, or "
             "the pod's service account");
  flags_.Add("--context", &context_, "The context of the kubeconfig to use");
  flags_.AddNonEmpty("--scheduler-name", &settings_.scheduler_name,
                     "Schedule pods with this spec.schedulerName");
  flags_.Add(
      "--kube-api-qps",
      [this](const std::string& text) { settings_.qps = ParseRate(text); },
      "NUMBER",
      "Requests to the API server per second; 0 or less for no limit; "
      "default: " +
          fmt::format("{}", settings_.qps));
  flags_.Add("--kube-api-burst", &settings_.burst,
             "Requests that may be sent at once after a pause", 1);
  flags_.Add(
      "--metrics-port",
      [this](const std::string& text) { metrics_port_ = ParsePort(text); },
      "PORT",
      "Serve /metrics, /healthz, /livez and, to this machine only, /debug at "
      "this port; 0 picks a free port; default: don't serve them");
  flags_.Add(
      "--metrics-address",
      [this](const std::string& text) {
        metrics_address_ = ParseAddress(text);
      },
      "ADDRESS",
      "The IP address for --metrics-port; 0.0.0.0 for all IPv4 addresses; "
      "default: 127.0.0.1, which only this machine reaches");
  flags_.Add(
      "--pace", [this](const std::string& text) { pace_ = ParsePace(text); },
      "run|step|DURATION",
      "How fast to take pods: without waiting, one for each key press, or one "
      "per DURATION");
  flags_.Add(
      "--record",
      [this](const std::string& text) {
        if (text.empty()) throw ParseError("must not be empty");
        record_ = text;
      },
      "FILE",
      "Record the scheduler's work and the changes of pods and nodes in this "
      "new file, as JSON lines");
  flags_.Add("--annotate-results", &annotate_results_,
             "Write the results of each attempt to the pod, as annotations of "
             "kube-scheduler-simulator; needs the right to patch pods");
  flags_.Add("--debug-control", &debug_control_,
             "Let programs on this machine pause the scheduler and end waits "
             "on Permit, through /debug at --metrics-port");
  flags_.AddCount("-v,--verbose", &verbosity_,
                  "Log each attempt as a table, nodes x plugins, and debug "
                  "messages; -vv: each move of a pod too");
}

int App::Run(int argc, const char* const* argv,
             const std::function<void(const AppContext&)>& body) {
  if (const auto code = flags_.Parse(argc, argv, MINISCHED_VERSION)) {
    return *code;
  }
  const std::string program = std::filesystem::path(argv[0]).filename();
  try {
    SetUpLogging(verbosity_);
    if (const auto code = configure_(program, settings_)) return *code;
    ShareFreedMemory();
    Metrics metrics;
    PodMetrics pod_metrics(metrics, RealClock());
    Trace trace(
        settings_.scheduler_name, RealClock(), {},
        [&pod_metrics](const Pod& pod, Place place, const Move& move) {
          pod_metrics.Moved(pod, place, move);
        },
        program,
        [&metrics](const std::string& profile, std::string_view plugin,
                   std::size_t nodes) {
          metrics.NodesScored(profile, plugin, nodes);
        });
    const StopOnSignal signals([&trace] { LogPlaces(trace); });
    PaceSetter pace(trace, pace_, signals.token());
    HealthChecks health;
    std::unique_ptr<DebugPaths> debug;
    std::unique_ptr<MetricsServer> server;
    if (metrics_port_) {
      debug = std::make_unique<DebugPaths>(
          trace, pace,
          DebugPaths::Options{.program = program,
                              .scheduler_name = settings_.scheduler_name,
                              .configz = settings_.configz,
                              .control = debug_control_});
      server = Serve(metrics_address_, *metrics_port_, metrics, trace, *debug,
                     health);
    }
    RestConfig config = LoadRestConfig({settings_.kubeconfig, context_},
                                       ProcessEnvironment(), signals.token());
    config.qps = settings_.qps;
    config.burst = settings_.burst;
    config.user_agent = program + "/" MINISCHED_VERSION;
    Client client(config);
    CheckServer(client, signals.token());
    std::optional<TraceReader> reader;
    std::jthread log;
    if (verbosity_ > 0) {
      reader.emplace(trace, AttemptDetail::kAllRejections);
      log = std::jthread(
          [&reader](const std::stop_token& stop) { LogTrace(*reader, stop); });
    }
    std::optional<Recorder> recorder;
    if (record_) recorder.emplace(trace, client, *record_);
    std::optional<Annotator> annotator;
    if (annotate_results_) annotator.emplace(trace, config);
    body({client, settings_.scheduler_name, trace, signals.token(), metrics,
          health});
    return 0;
  } catch (const Cancelled&) {
    return 0;
  } catch (const std::exception& error) {
    std::cerr << program << ": " << Printable(error.what()) << "\n";
    return 1;
  }
}

}  // namespace minisched
