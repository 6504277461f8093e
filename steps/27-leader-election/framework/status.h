#pragma once

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace minisched {

// The codes of a status: upstream's, in upstream's order, without Pending.
enum class Code {
  kSuccess,
  kError,          // the plugin failed
  kUnschedulable,  // the pod can't be scheduled now
  // The same, and removing pods from the node would not help.
  kUnschedulableAndUnresolvable,
  kWait,  // from Permit: the pod has to wait
  kSkip   // the plugin has nothing to do for this pod
};

// The result of running a plugin, or several: a code, reasons and the name of
// the plugin. A value: success allocates nothing, and copies share the reasons.
// Follows k8s.io/kube-scheduler/framework.
class Status {
 public:
  Status() = default;                 // success
  Status(Code code) : code_(code) {}  // NOLINT(google-explicit-constructor)
  Status(Code code, std::string reason)
      : Status(code, std::vector<std::string>{std::move(reason)}) {}
  Status(Code code, std::vector<std::string> reasons)
      : code_(code),
        reasons_(std::make_shared<const std::vector<std::string>>(
            std::move(reasons))) {}

  Code code() const { return code_; }
  // Returns upstream's name of the code.
  std::string_view CodeName() const {
    static constexpr std::array<std::string_view, 6> kNames = {
        "Success", "Error", "Unschedulable", "UnschedulableAndUnresolvable",
        "Wait",    "Skip"};
    return kNames.at(static_cast<std::size_t>(code_));
  }

  // Messages for users. FitError() counts each reason over all nodes.
  const std::vector<std::string>& reasons() const {
    static const std::vector<std::string> none;
    return reasons_ ? *reasons_ : none;
  }
  std::string Message() const {
    return fmt::format("{}", fmt::join(reasons(), ", "));
  }

  // The name of the plugin that returned the status; empty if no plugin did.
  // Set by the framework, never by plugins.
  std::string_view plugin() const { return plugin_; }
  // Returns a copy with this plugin's name. `name` must outlive the copy.
  Status WithPlugin(std::string_view name) const {
    Status status = *this;
    status.plugin_ = name;
    return status;
  }

  bool IsSuccess() const { return code_ == Code::kSuccess; }
  // True if the plugin rejected the pod (not an error).
  bool IsRejected() const {
    return code_ == Code::kUnschedulable ||
           code_ == Code::kUnschedulableAndUnresolvable;
  }

 private:
  Code code_ = Code::kSuccess;
  std::string_view plugin_;
  std::shared_ptr<const std::vector<std::string>> reasons_;  // null: none
};

}  // namespace minisched
