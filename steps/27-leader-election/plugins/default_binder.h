#pragma once

#include "framework/handle.h"
#include "framework/plugin.h"

namespace minisched {

// Binds a pod with a POST to its subresource binding. Follows
// plugins/defaultbinder.
class DefaultBinder final : public BindPlugin {
 public:
  explicit DefaultBinder(const Handle& handle) : client_(handle.client) {}

  std::string_view Name() const override { return "DefaultBinder"; }
  void Bind(CycleState& /*state*/, const Pod& pod, const std::string& node_name,
            const std::stop_token& stop, StatusCallback done) const override {
    Binding binding;
    binding.metadata.namespace_name = pod.metadata.namespace_name;
    binding.metadata.name = pod.metadata.name;
    // The uid keeps a newer pod of the same name from being bound.
    binding.metadata.uid = pod.metadata.uid;
    binding.target.kind = "Node";
    binding.target.name = node_name;
    client_.BindAsync(binding, stop, [done](const ClientResult<void>& result) {
      done(result ? Status() : Status(Code::kError, result.error().what()));
    });
  }

 private:
  Client& client_;
};

}  // namespace minisched
