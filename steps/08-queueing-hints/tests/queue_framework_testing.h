#pragma once

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/framework.h"
#include "plugins/priority_sort.h"

// Frameworks for tests of the queue.

namespace minisched {

inline Framework FrameworkWithPrioritySort() {
  Framework framework;
  framework.Add(std::make_unique<PrioritySort>());
  return framework;
}

// A filter plugin that does nothing but register events. Tests pass its name to
// the queue, as if it had rejected a pod.
class FakeFilter final : public FilterPlugin {
 public:
  // `name` must outlive the plugin.
  FakeFilter(std::string_view name, std::vector<ClusterEventWithHint> events)
      : name_(name), events_(std::move(events)) {}

  std::string_view Name() const override { return name_; }
  std::vector<ClusterEventWithHint> EventsToRegister() const override {
    return events_;
  }
  Status Filter(const CycleState& /*state*/, const Pod& /*pod*/,
                const NodeInfo& /*node*/) const override {
    return {};
  }

 private:
  const std::string_view name_;
  const std::vector<ClusterEventWithHint> events_;
};

// Returns a framework with a NodeResourcesFit that registers new nodes, and
// labels and tolerations of pods. It has no hints.
inline Framework FrameworkWithFakeFilter() {
  Framework framework = FrameworkWithPrioritySort();
  framework.Add(std::make_unique<FakeFilter>(
      "NodeResourcesFit",
      std::vector<ClusterEventWithHint>{
          {{EventResource::kNode, action::kAdd}},
          {{EventResource::kPod,
            action::kUpdatePodLabel | action::kUpdatePodToleration}}}));
  return framework;
}

inline ClusterChange NodeAdded() {
  return {{EventResource::kNode, action::kAdd}};
}

}  // namespace minisched
