#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "minisched/api/pod.h"

namespace minisched {

// Amounts of resources as integers, which are faster to compare and to add than
// quantities. Follows Resource of kube-scheduler's framework/types.go.
struct Resource {
  std::int64_t milli_cpu = 0;           // thousandths of a core
  std::int64_t memory = 0;              // bytes
  std::int64_t ephemeral_storage = 0;   // bytes
  std::int64_t allowed_pod_number = 0;  // of nodes only
  // The other resources, such as "nvidia.com/gpu" and "hugepages-2Mi".
  std::map<std::string, std::int64_t> scalar_resources;

  Resource() = default;
  // Limits of amounts: the sum of 8,000 absurd requests must not overflow, and
  // a request that was limited must not fit on any node.
  static constexpr std::int64_t kMaxRequest = std::int64_t{1} << 50;
  static constexpr std::int64_t kMaxAllocatable = kMaxRequest - 1;

  // Rounds each amount up and limits it to the range from 0 to `limit`.
  explicit Resource(const ResourceList& list, std::int64_t limit = kMaxRequest);

  // Returns the amount of one of scalar_resources; 0 if it is absent.
  std::int64_t Scalar(const std::string& name) const;

  Resource& operator+=(const Resource& other);
  Resource& operator-=(const Resource& other);
};

}  // namespace minisched
