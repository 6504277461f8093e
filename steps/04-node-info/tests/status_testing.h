#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "framework/status.h"

// Helpers for tests of statuses.

namespace minisched {

inline std::string_view CodeName(Code code) {
  constexpr std::string_view kNames[] = {
      "Success", "Error", "Unschedulable", "UnschedulableAndUnresolvable",
      "Wait",    "Skip"};
  return kNames[static_cast<int>(code)];
}

// Returns the code, the plugin and the reasons: "Success",
// "Unschedulable: Too many pods", "Error by NodePorts: disk full".
inline std::string Describe(const Status& status) {
  std::string text(CodeName(status.code()));
  if (!status.plugin().empty()) text += fmt::format(" by {}", status.plugin());
  if (!status.reasons().empty()) text += ": " + status.Message();
  return text;
}

}  // namespace minisched
