#pragma once

#include <concepts>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "cycle_state.h"
#include "minisched/api/pod.h"
#include "node_info.h"
#include "snapshot.h"
#include "status.h"

namespace minisched {

class Plugin {
 public:
  virtual ~Plugin() = default;
  virtual std::string_view Name() const = 0;
};

// Says which nodes a pod can't run on.
class FilterPlugin : public virtual Plugin {
 public:
  virtual Status Filter(CycleState& state, const Pod& pod,
                        const NodeInfo& node) const = 0;
};

// What plugins get to know of the scheduler that they are part of.
class Handle {
 public:
  virtual ~Handle() = default;
  virtual const Snapshot& SnapshotSharedLister() const = 0;
};

// The plugins, and asking them. Follows kube-scheduler's framework/runtime.
class Framework final : public Handle {
 public:
  // With the plugins that kube-scheduler has by default, as far as they are
  // here, in its order. `snapshot` must outlive it.
  explicit Framework(const Snapshot& snapshot);

  // Makes a plugin and puts it last in the list of each extension point that it
  // is for. Not while plugins are asked.
  template <class T>
  void Add() {
    auto plugin = std::make_unique<T>(*this);
    if constexpr (std::derived_from<T, FilterPlugin>) {
      filter_plugins_.push_back(plugin.get());
    }
    plugins_.push_back(std::move(plugin));
  }

  const Snapshot& SnapshotSharedLister() const override { return snapshot_; }

  // Asks one plugin after the other, up to the first that does not let the node
  // pass: that one's answer it is.
  Status RunFilterPlugins(CycleState& state, const Pod& pod,
                          const NodeInfo& node) const;

 private:
  const Snapshot& snapshot_;
  std::vector<std::unique_ptr<const Plugin>> plugins_;
  // Those of plugins_ that are for an extension point.
  std::vector<const FilterPlugin*> filter_plugins_;
};

}  // namespace minisched
