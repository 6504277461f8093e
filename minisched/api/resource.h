#pragma once

#include <map>
#include <string>

#include "minisched/api/pod.h"

namespace minisched {

// Amounts of resources as integers, which are faster to compare and to add than
// quantities. Follows Resource of kube-scheduler's framework/types.go.
struct Resource {
  Amount milli_cpu = 0;           // thousandths of a core
  Amount memory = 0;              // bytes
  Amount ephemeral_storage = 0;   // bytes
  Amount allowed_pod_number = 0;  // of nodes only
  // The other resources, such as "nvidia.com/gpu" and "hugepages-2Mi".
  std::map<std::string, Amount> scalar_resources;

  Resource() = default;
  // Rounds each amount up. A negative quantity becomes 0.
  explicit Resource(const ResourceList& list);

  // Returns the amount of one of scalar_resources; 0 if it is absent.
  Amount Scalar(const std::string& name) const;

  Resource& operator+=(const Resource& other);
  Resource& operator-=(const Resource& other);
};

}  // namespace minisched
