#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "minisched/api/api_resource.h"
#include "minisched/api/meta.h"
#include "minisched/api/time.h"

namespace minisched {

// The types of coordination.k8s.io/v1. All fields of the spec are modelled, so
// that an update loses none. A field that is set to "" or 0 differs from an
// absent field: a released Lease has the holder "".
struct LeaseSpec {
  std::optional<std::string> holder_identity;
  // How long the others must wait after they have seen the Lease change.
  std::optional<std::int32_t> lease_duration_seconds;
  // When the holder got the Lease, and when it last renewed the Lease, by the
  // holder's clock.
  std::optional<MicroTime> acquire_time;
  std::optional<MicroTime> renew_time;
  // How often the holder has changed.
  std::optional<std::int32_t> lease_transitions;
  // Of coordinated leader election, in which the server chooses the holder.
  std::optional<std::string> strategy;
  std::optional<std::string> preferred_holder;

  bool operator==(const LeaseSpec&) const = default;
};

// Something that one client holds at a time, such as the leadership among the
// replicas of a controller.
struct Lease {
  static constexpr ApiResource kResource{"coordination.k8s.io", "v1", "leases",
                                         "Lease", true};

  ObjectMeta metadata;
  LeaseSpec spec;
};

}  // namespace minisched
