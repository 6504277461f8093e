#include "minisched/api/resource.h"

#include <algorithm>

namespace minisched {
namespace {

Amount ToUnits(const Quantity& quantity) {
  return std::max<Amount>(quantity.Value(), 0);
}

Amount ToMillis(const Quantity& quantity) {
  return std::max<Amount>(quantity.MilliValue(), 0);
}

}  // namespace

Resource::Resource(const ResourceList& list) {
  for (const auto& [name, quantity] : list) {
    if (name == "cpu") {
      milli_cpu = ToMillis(quantity);
    } else if (name == "memory") {
      memory = ToUnits(quantity);
    } else if (name == "ephemeral-storage") {
      ephemeral_storage = ToUnits(quantity);
    } else if (name == "pods") {
      allowed_pod_number = ToUnits(quantity);
    } else {
      scalar_resources[name] = ToUnits(quantity);
    }
  }
}

Amount Resource::Scalar(const std::string& name) const {
  const auto amount = scalar_resources.find(name);
  return amount == scalar_resources.end() ? 0 : amount->second;
}

Resource& Resource::operator+=(const Resource& other) {
  milli_cpu += other.milli_cpu;
  memory += other.memory;
  ephemeral_storage += other.ephemeral_storage;
  allowed_pod_number += other.allowed_pod_number;
  for (const auto& [name, amount] : other.scalar_resources) {
    scalar_resources[name] += amount;
  }
  return *this;
}

Resource& Resource::operator-=(const Resource& other) {
  milli_cpu -= other.milli_cpu;
  memory -= other.memory;
  ephemeral_storage -= other.ephemeral_storage;
  allowed_pod_number -= other.allowed_pod_number;
  for (const auto& [name, amount] : other.scalar_resources) {
    scalar_resources[name] -= amount;
  }
  return *this;
}

}  // namespace minisched
