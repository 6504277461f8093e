#pragma once

#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>

#include "lab/scenario/errors.h"

namespace minisched::scenario {

// A temporary directory, whose name begins with the program's. The destructor
// removes it.
class TemporaryDirectory {
 public:
  // Throws CannotPlay.
  explicit TemporaryDirectory(const std::string& program) {
    std::string name =
        std::filesystem::temp_directory_path() / (program + ".XXXXXX");
    if (mkdtemp(name.data()) == nullptr) {
      throw CannotPlay("failed to create the directory " + name + ": " +
                       std::strerror(errno));
    }
    path_ = name;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace minisched::scenario
