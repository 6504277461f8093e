#pragma once

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>

#include "lab/scenario/child_process.h"

namespace minisched::scenario {

// A minisched-apiserver of one's own: the program that lies beside this one.
// Ends with this object.
class Embedded {
 public:
  // Starts it, with its files in `directory`, and waits until it can be asked.
  // Throws CannotPlay, or Cancelled.
  Embedded(const std::filesystem::path& directory, const std::stop_token& stop);

  const std::string& kubeconfig() const { return kubeconfig_; }

 private:
  std::string kubeconfig_;
  std::optional<ChildProcess> process_;
};

}  // namespace minisched::scenario
