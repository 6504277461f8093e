#include "plugins/node_number.h"

#include <chrono>
#include <memory>
#include <optional>
#include <variant>

#include "framework/waiting_pods.h"

namespace minisched {
namespace {

constexpr std::chrono::seconds kPermitTimeout{5};

struct PodNumber {
  int digit;
};

// Lives until the end of the attempt.
using AttemptMarker = std::shared_ptr<const std::monostate>;

std::optional<int> LastDigit(const std::string& name) {
  if (name.empty() || name.back() < '0' || name.back() > '9') return {};
  return name.back() - '0';
}

}  // namespace

Status NodeNumber::PreScore(CycleState& state, const Pod& pod,
                            const Nodes& /*nodes*/) const {
  const auto digit = LastDigit(pod.metadata.name);
  if (!digit) return Code::kSkip;
  state.Write(PodNumber{*digit});
  return {};
}

Status NodeNumber::Score(const CycleState& state, const Pod& /*pod*/,
                         const NodeInfo& node, std::int64_t& score) const {
  const auto digit = LastDigit(node.node().metadata.name);
  if (digit == state.Read<PodNumber>().digit) score = kMaxNodeScore;
  return {};
}

Status NodeNumber::Permit(CycleState& state, const Pod& pod,
                          const std::string& node_name,
                          Clock::Duration& timeout) {
  const std::chrono::seconds wait(LastDigit(node_name).value_or(0));
  if (wait.count() == 0) return {};
  const auto this_attempt = std::make_shared<const std::monostate>();
  state.Write(AttemptMarker(this_attempt));
  const auto allow = [name = Name(), uid = pod.metadata.uid,
                      this_attempt = std::weak_ptr(this_attempt),
                      &waiting_pods = handle_.waiting_pods] {
    if (this_attempt.expired()) return;  // the pod may wait again by now
    waiting_pods.Allow(uid, name);
  };
  handle_.executor.PostAfter(wait, allow);
  timeout = kPermitTimeout;
  return Code::kWait;
}

}  // namespace minisched
