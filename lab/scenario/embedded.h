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
  // Starts the server with its files in `directory` and blocks until the server
  // accepts requests. Throws CannotPlay or Cancelled.
  Embedded(const std::filesystem::path& directory, const std::stop_token& stop);

  const std::string& kubeconfig() const { return kubeconfig_; }

 private:
  std::string kubeconfig_;
  std::optional<ChildProcess> process_;
};

}  // namespace minisched::scenario
