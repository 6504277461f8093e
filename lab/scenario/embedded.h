#pragma once

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>

#include "lab/scenario/child_process.h"

namespace minisched::scenario {

// A minisched-apiserver process, started from the directory of this program.
// The destructor ends the process.
class Embedded {
 public:
  // Starts the server and blocks until the server accepts requests. The server
  // writes its kubeconfig and log into `directory`. Throws CannotPlay or
  // Cancelled.
  Embedded(const std::filesystem::path& directory, const std::stop_token& stop);

  // Returns the path of the server's kubeconfig.
  const std::string& kubeconfig() const { return kubeconfig_; }

 private:
  std::string kubeconfig_;
  std::optional<ChildProcess> process_;
};

}  // namespace minisched::scenario
