#include "minisched/app/app.h"

#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>

#include "minisched/app/logging.h"
#include "minisched/app/signals.h"
#include "minisched/client/kubeconfig.h"

namespace minisched {
namespace {

// Logs the server and its version. Throws if no retry would help.
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
  flags_.AddCount("-v,--verbose", &verbosity_,
                  "Log debug messages; -vv: trace messages too");
}

int App::Run(int argc, const char* const* argv,
             const std::function<void(const AppContext&)>& body) {
  if (const auto code = flags_.Parse(argc, argv, MINISCHED_VERSION)) {
    return *code;
  }
  const std::string program = std::filesystem::path(argv[0]).filename();
  try {
    SetUpLogging(verbosity_);
    const StopOnSignal signals;
    RestConfig config = LoadRestConfig({kubeconfig_, context_});
    config.qps = qps_;
    config.burst = burst_;
    config.user_agent = program + "/" MINISCHED_VERSION;
    Client client(config);
    CheckServer(client, signals.token());
    body({client, scheduler_name_, signals.token()});
    return 0;
  } catch (const Cancelled&) {
    return 0;
  } catch (const std::exception& error) {
    std::cerr << program << ": " << error.what() << "\n";
    return 1;
  }
}

}  // namespace minisched
