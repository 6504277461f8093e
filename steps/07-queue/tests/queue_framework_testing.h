#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "framework/framework.h"
#include "plugins/priority_sort.h"

// Frameworks for tests of the queue.

namespace minisched {

inline Framework FrameworkWithPrioritySort() {
  Framework framework;
  framework.Add(std::make_unique<PrioritySort>());
  return framework;
}

// A filter plugin that does nothing. Tests pass its name to the queue, as if it
// had rejected a pod.
class FakeFilter final : public FilterPlugin {
 public:
  // `name` must outlive the plugin.
  explicit FakeFilter(std::string_view name) : name_(name) {}

  std::string_view Name() const override { return name_; }
  Status Filter(const CycleState& /*state*/, const Pod& /*pod*/,
                const NodeInfo& /*node*/) const override {
    return {};
  }

 private:
  const std::string_view name_;
};

// Returns a framework with a NodeResourcesFit that does nothing.
inline Framework FrameworkWithFakeFilter() {
  Framework framework = FrameworkWithPrioritySort();
  framework.Add(std::make_unique<FakeFilter>("NodeResourcesFit"));
  return framework;
}

inline std::string NodeAdded() { return "NodeAdd"; }

}  // namespace minisched
