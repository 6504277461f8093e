#include "minisched/config/leader_election_flags.h"

#include "minisched/api/duration.h"

namespace minisched {
namespace {

constexpr char kElect[] = "--leader-elect";

}  // namespace

void LeaderElectionFlags::AddTo(Flags& flags) {
  using Configuration = LeaderElectionConfiguration;
  flags_ = &flags;
  flags.Add(kElect, &leader_elect_,
            "Schedule only while this replica holds the Lease; =false: always; "
            "default: false, or the file's");
  AddDuration("--leader-elect-lease-duration", &Configuration::lease_duration,
              "How long the other replicas wait after they have seen a "
              "renewal; default: 15s, or the file's");
  AddDuration("--leader-elect-renew-deadline", &Configuration::renew_deadline,
              "How long the leader goes on without a renewal; default: 10s, or "
              "the file's");
  AddDuration("--leader-elect-retry-period", &Configuration::retry_period,
              "The time between two tries; default: 2s, or the file's");
  AddText("--leader-elect-resource-lock", &Configuration::resource_lock,
          "The kind of the lock; only leases are supported");
  AddText("--leader-elect-resource-name", &Configuration::resource_name,
          "The name of the Lease; default: the file's, or without a file the "
          "scheduler's name");
  AddText("--leader-elect-resource-namespace",
          &Configuration::resource_namespace,
          "The namespace of the Lease; default: kube-system, or the file's");
}

void LeaderElectionFlags::Apply(
    LeaderElectionConfiguration& configuration) const {
  if (flags_->IsGiven(kElect)) configuration.leader_elect = leader_elect_;
  for (const auto& [name, field] : durations_) {
    if (flags_->IsGiven(name)) configuration.*field = values_.*field;
  }
  for (const auto& [name, field] : texts_) {
    if (flags_->IsGiven(name)) configuration.*field = values_.*field;
  }
}

void LeaderElectionFlags::AddDuration(
    const std::string& name,
    std::chrono::nanoseconds LeaderElectionConfiguration::*field,
    const std::string& help) {
  durations_.emplace_back(name, field);
  flags_->Add(
      name,
      [this, field](const std::string& text) {
        values_.*field = ParseDuration(text);
      },
      "DURATION", help);
}

void LeaderElectionFlags::AddText(
    const std::string& name, std::string LeaderElectionConfiguration::*field,
    const std::string& help) {
  texts_.emplace_back(name, field);
  flags_->AddNonEmpty(name, &(values_.*field), help);
}

}  // namespace minisched
