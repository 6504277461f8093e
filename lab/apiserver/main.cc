// minisched-apiserver: the embedded API server as a program.
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>

#include "lab/apiserver/server.h"
#include "minisched/base/printable.h"
#include "minisched/cli/flags.h"
#include "minisched/cli/logging.h"
#include "minisched/cli/signals.h"
#include "minisched/client/config_files.h"
#include "minisched/client/errors.h"

namespace {

// Writes or replaces a file atomically, so that a reader never finds a part of
// the text. Only the owner can read the file.
void WriteFile(const std::string& name, const std::string& text) {
  const std::string draft = name + ".new";
  std::ofstream file(draft);
  file << text;
  file.close();
  if (!file || chmod(draft.c_str(), 0600) != 0 ||
      rename(draft.c_str(), name.c_str()) != 0) {
    throw std::runtime_error(name + ": " + std::strerror(errno));
  }
}

struct Options {
  minisched::apiserver::ServerOptions server;
  int port = 0;
  bool simulate = false;
  std::string kubeconfig_out;
  std::vector<std::string> load;
  std::string faults;
};

void Serve(Options& options) {
  options.server.port = static_cast<unsigned short>(options.port);
  options.server.simulate_kubelet |= options.simulate;
  options.server.simulate_workloads |= options.simulate;
  options.server.simulate_volumes |= options.simulate;
  const minisched::StopOnSignal signals;
  minisched::apiserver::Server server(options.server);
  for (const std::string& name : options.load) {
    server.Load(minisched::ReadFileOrPipe(name, name, signals.token()), name);
  }
  if (!options.faults.empty()) {
    server.SetFaults(minisched::ReadFileOrPipe(options.faults, options.faults,
                                               signals.token()),
                     options.faults);
  }
  if (!options.kubeconfig_out.empty()) {
    WriteFile(options.kubeconfig_out, server.Kubeconfig());
  }
  std::cout << "minisched-apiserver is ready at " << server.url() << std::endl;
  const std::stop_callback stop(signals.token(), [&] { server.Stop(); });
  server.Run();
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  int verbosity = 0;
  minisched::Flags flags(
      "A Kubernetes API server in one process, in memory: for learning and for "
      "tests.");
  flags.Add("--port", &options.port, "Port to listen on; 0 picks a free port",
            0, 65535);
  flags.Add("--address", &options.server.address,
            "IP address to listen on; with 127.0.0.1, only this machine can "
            "connect. The server has no authentication");
  flags.Add("--kubeconfig-out", &options.kubeconfig_out,
            "Write a kubeconfig for this server to this file");
  flags.Add("--load", &options.load,
            "Create the objects of these manifests at the start");
  flags.Add("--faults", &options.faults,
            "Inject the faults that this file describes: see "
            "docs/reference/embedded-api-server.md");
  flags.Add("--simulate", &options.simulate,
            "Simulate kubelets, the controllers of Deployments and "
            "ReplicaSets, and volumes");
  flags.Add("--simulate-kubelet", &options.server.simulate_kubelet,
            "Simulate kubelets only");
  flags.Add("--simulate-workloads", &options.server.simulate_workloads,
            "Simulate the controllers of Deployments and ReplicaSets only");
  flags.Add("--simulate-volumes", &options.server.simulate_volumes,
            "Simulate the controllers of volumes and claims, and a "
            "provisioner, only");
  flags.AddCount("-v,--verbose", &verbosity,
                 "Log debug messages; -vv: trace messages too");
  if (const auto code = flags.Parse(argc, argv, MINISCHED_VERSION)) {
    return *code;
  }
  try {
    minisched::SetUpLogging(verbosity);
    Serve(options);
    return 0;
  } catch (const minisched::Cancelled&) {
    return 0;  // a signal has ended the wait for a pipe
  } catch (const std::exception& error) {
    std::cerr << "minisched-apiserver: " << minisched::Printable(error.what())
              << "\n";
    return 1;
  }
}
