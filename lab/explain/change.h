#pragma once

#include <string>

namespace minisched::explain {

// A single change that may help a pod.
struct Change {
  std::string text;  // "node-2 is uncordoned"
  std::string step;  // for scenario::ParseSteps(), as JSON
};

}  // namespace minisched::explain
