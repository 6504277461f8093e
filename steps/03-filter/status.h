#pragma once

#include <fmt/format.h>

#include <concepts>
#include <string>
#include <utility>
#include <vector>

namespace minisched {

// What a plugin may say: upstream's codes, in upstream's order.
enum class Code {
  kSuccess,
  kError,          // no answer: something went wrong
  kUnschedulable,  // not as things are
  // Not as things are, and removing pods from the node would not help.
  kUnschedulableAndUnresolvable,
  kWait,    // from Permit: not yet
  kSkip,    // this plugin has nothing to say about this pod
  kPending  // not before something outside of the cluster has happened
};

// A plugin's answer, and why. A value. Follows k8s.io/kube-scheduler/framework.
class Status {
 public:
  Status() = default;
  template <std::convertible_to<std::string>... More>
  Status(Code code, std::string reason, More&&... more)
      : code_(code), reasons_{std::move(reason), std::forward<More>(more)...} {}

  Code code() const { return code_; }
  // For people; each is counted over all nodes.
  const std::vector<std::string>& reasons() const { return reasons_; }
  std::string Message() const {
    return fmt::format("{}", fmt::join(reasons_, ", "));
  }

  bool IsSuccess() const { return code_ == Code::kSuccess; }
  // The pod was turned down, in contrast to: something went wrong.
  bool IsRejected() const {
    return code_ == Code::kUnschedulable ||
           code_ == Code::kUnschedulableAndUnresolvable ||
           code_ == Code::kPending;
  }

 private:
  Code code_ = Code::kSuccess;
  std::vector<std::string> reasons_;
};

}  // namespace minisched
