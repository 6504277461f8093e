#pragma once

#include <stop_token>
#include <string>

#include "minisched/client/kubeconfig.h"

namespace minisched::live {

struct ClusterOptions {
  ConfigFlags config;
  unsigned short port = 0;                           // 0 picks a free port
  bool control = false;                              // see LivePageOptions
  std::string scheduler_name = "default-scheduler";  // of the pods to show
  std::string records;                               // see OtherScheduler
  std::string scheduler;    // the command that starts the scheduler; or ""
  std::string config_file;  // the scheduler's configuration
};

// Serves a page of a cluster and a scheduler in another process, until `stop`
// asks to stop. Throws the errors of the client, and std::runtime_error.
// REQUIRES: called on the main thread.
void ServeCluster(const ClusterOptions& options, const std::stop_token& stop);

}  // namespace minisched::live
