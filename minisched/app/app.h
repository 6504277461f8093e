#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "minisched/app/pace.h"
#include "minisched/cli/flags.h"
#include "minisched/client/client.h"
#include "minisched/metrics/health_checks.h"
#include "minisched/metrics/metrics.h"
#include "minisched/trace/trace.h"

namespace minisched {

// The parameters of a scheduler's body.
struct AppContext {
  // Outlives the body. The server may not be reachable yet.
  Client& client;
  // The scheduler is responsible for pods with this spec.schedulerName.
  const std::string& scheduler_name;
  // Receives the scheduler's reports. Outlives the body.
  Trace& trace;
  // Asks to stop after SIGINT or SIGTERM.
  std::stop_token stop;
  // Counts the scheduler's attempts. The metrics of the queue come from the
  // trace. Outlives the body.
  Metrics& metrics = Metrics::Unread();
  // Receives the checks for /livez, /readyz and /healthz. Outlives the body.
  HealthChecks& health = HealthChecks::Unserved();
};

// The values of the flags that a configuration can replace, and the
// configuration to serve.
struct AppSettings {
  std::string kubeconfig;  // empty: the flag isn't given
  std::string scheduler_name = "minisched";
  double qps;  // 0 or less: no limit
  int burst;
  // The response of /configz, as JSON. Empty: there is no such path.
  std::string configz;
};

// Everything that a scheduler program needs besides scheduling: flags, logging,
// signals, the connection to the server, and exit codes.
//
// The flags: --kubeconfig, --context, --scheduler-name, --kube-api-qps,
// --kube-api-burst, --metrics-port, --metrics-address, --pace, --record,
// --annotate-results, --debug-control, -v, --help, --version, and the program's
// own. After SIGUSR2, the program logs the places of the pods.
//
// The exit codes: 0 when the body returns or throws Cancelled, and after --help
// and --version; 1 after an error (one line on stderr); 2 for wrong flags.
class App {
 public:
  explicit App(const std::string& description);

  // Returns the flags, so that the program can add its own before Run().
  Flags& flags() { return flags_; }

  // Makes Run() call `configure` before `body`, with the name of the program
  // and the settings of the flags. `configure` can change the settings. If it
  // returns an exit code, Run() returns this code, and does not call `body`.
  void Configure(
      std::function<std::optional<int>(const std::string&, AppSettings&)>
          configure) {
    configure_ = std::move(configure);
  }

  // Parses the flags, runs `body` on the calling thread, and returns the exit
  // code for main(). Replaces spdlog's default logger. Handles SIGINT, SIGTERM
  // and SIGUSR2 until Run() returns. REQUIRES: called on the main thread,
  // before other threads start.
  //
  // When context.stop asks to stop, `body` must soon return or throw Cancelled.
  // Any other std::exception from `body` is an error.
  //
  // Fails without calling `body` if no retry would help: the configuration is
  // unusable, or the server is untrusted or rejects our credentials. After
  // other errors, such as an unreachable server, logs a warning and calls
  // `body`.
  int Run(int argc, const char* const* argv,
          const std::function<void(const AppContext&)>& body);

 private:
  Flags flags_;
  AppSettings settings_;
  std::function<std::optional<int>(const std::string&, AppSettings&)>
      configure_ = [](auto&...) { return std::nullopt; };
  std::string context_;
  std::optional<unsigned short> metrics_port_;
  std::string metrics_address_ = "127.0.0.1";
  Pace pace_;
  std::optional<std::string> record_;
  bool annotate_results_ = false;
  bool debug_control_ = false;
  int verbosity_ = 0;
};

}  // namespace minisched
