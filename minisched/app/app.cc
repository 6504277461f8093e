#include "minisched/app/app.h"

#include <charconv>
#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <thread>

#include "minisched/api/parse_error.h"
#include "minisched/app/logging.h"
#include "minisched/app/monitoring.h"
#include "minisched/app/signals.h"
#include "minisched/client/kubeconfig.h"
#include "minisched/trace/recorder.h"
#include "minisched/trace/trace_log.h"

namespace minisched {
namespace {

// Logs the server and its version, or a warning. Throws if no retry would help.
void CheckServer(Client& client, const std::stop_token& stop) {
  try {
    const std::string version = client.ServerVersion(stop);
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

}  // namespace

App::App(const std::string& description) : flags_(description) {
  const RestConfig defaults;
  qps_ = defaults.qps;
  burst_ = defaults.burst;
  flags_.Add("--kubeconfig", &kubeconfig_,
             "The kubeconfig file; default: $KUBECONFIG, ~/.kube/config, or "
             "the pod's service account");
  flags_.Add("--context", &context_, "The context of the kubeconfig to use");
  flags_.Add("--scheduler-name", &scheduler_name_,
             "Schedule pods with this spec.schedulerName");
  flags_.Add("--kube-api-qps", &qps_,
             "Requests to the API server per second; 0 for no limit");
  flags_.Add("--kube-api-burst", &burst_,
             "Requests that may be sent at once after a pause");
  flags_.Add(
      "--metrics-port",
      [this](const std::string& text) { metrics_port_ = ParsePort(text); },
      "PORT",
      "Serve /metrics, /healthz, /livez and /readyz on 127.0.0.1 at this port; "
      "0 picks a free port; default: don't serve them");
  flags_.Add(
      "--pace", [this](const std::string& text) { pace_ = ParsePace(text); },
      "run|step|DURATION",
      "How fast to take pods: without waiting, one for each key press, or one "
      "per DURATION");
  flags_.Add(
      "--record", [this](const std::string& text) { record_ = text; }, "FILE",
      "Record the scheduler's work and the changes of pods and nodes in this "
      "new file, as JSON lines");
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
    Trace trace(scheduler_name_);
    const StopOnSignal signals([&trace] { LogPlaces(trace); });
    Monitoring monitoring(trace, scheduler_name_, metrics_port_,
                          signals.token());
    RestConfig config = LoadRestConfig({kubeconfig_, context_});
    config.qps = qps_;
    config.burst = burst_;
    config.user_agent = program + "/" MINISCHED_VERSION;
    Client client(config);
    CheckServer(client, signals.token());
    const PaceSetter pace(trace, pace_, signals.token());
    std::optional<TraceReader> reader;
    std::jthread log;
    if (verbosity_ > 0) {
      reader.emplace(trace, AttemptDetail::kAllObjections);
      log = std::jthread(
          [&reader](const std::stop_token& stop) { LogTrace(*reader, stop); });
    }
    std::optional<Recorder> recorder;
    if (record_) recorder.emplace(trace, client, *record_);
    monitoring.SetStarted();
    body({client, scheduler_name_, trace, signals.token(), monitoring.metrics(),
          monitoring.health()});
    return 0;
  } catch (const Cancelled&) {
    return 0;
  } catch (const std::exception& error) {
    std::cerr << program << ": " << error.what() << "\n";
    return 1;
  }
}

}  // namespace minisched
