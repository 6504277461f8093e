#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "minisched/app/flags.h"
#include "minisched/client/client.h"

namespace minisched {

// What the body of a scheduler's main() gets.
struct AppContext {
  // Connected, unless the server is not up yet. Outlives the body.
  Client& client;
  // The pods to schedule are those whose spec.schedulerName this is.
  const std::string& scheduler_name;
  // Asked to stop by SIGINT or SIGTERM.
  std::stop_token stop;
};

// Everything about a scheduler program that is not scheduling: flags, logging,
// signals, connecting, exit codes.
//
// The flags: --kubeconfig, --context, --scheduler-name, --kube-api-qps,
// --kube-api-burst, -v, --help, --version; and the program's own.
//
// The exit codes: 0 stopped as asked to, 1 could not go on (one line on stderr
// says why), 2 wrong flags.
class App {
 public:
  explicit App(const std::string& description);

  // For the program's own flags, before Run().
  Flags& flags() { return flags_; }

  // Runs `body` until it returns; it is to return soon after context.stop asks
  // to stop. Returns the exit code.
  //
  // Fails without calling `body` where no retry would help: no usable
  // configuration, a server that is not to be trusted, or one that does not
  // know us. A server that can't be reached may come up yet, so that is only
  // logged.
  int Run(int argc, const char* const* argv,
          const std::function<void(const AppContext&)>& body);

 private:
  Flags flags_;
  std::string kubeconfig_;
  std::string context_;
  std::string scheduler_name_ = "minisched";
  double qps_;
  int burst_;
  int verbosity_ = 0;
};

}  // namespace minisched
