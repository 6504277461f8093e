#include "minisched/api/resource.h"

#include <algorithm>

namespace minisched {
namespace {

std::int64_t ToUnits(const Quantity& quantity, std::int64_t limit) {
  return std::clamp(quantity, {}, Quantity::FromValue(limit)).Value();
}

std::int64_t ToMillis(const Quantity& quantity, std::int64_t limit) {
  return std::clamp(quantity, {}, Quantity::FromMilli(limit)).MilliValue();
}

}  // namespace

Resource::Resource(const ResourceList& list, std::int64_t limit) {
  for (const auto& [name, quantity] : list) {
    if (name == "cpu") {
      milli_cpu = ToMillis(quantity, limit);
    } else if (name == "memory") {
      memory = ToUnits(quantity, limit);
    } else if (name == "ephemeral-storage") {
      ephemeral_storage = ToUnits(quantity, limit);
    } else if (name == "pods") {
      allowed_pod_number = ToUnits(quantity, limit);
    } else {
      scalar_resources[name] = ToUnits(quantity, limit);
    }
  }
}

std::int64_t Resource::Scalar(const std::string& name) const {
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
