#include "minisched/leaderelection/lease_lock.h"

#include <utility>

namespace minisched {

LeaseLock::LeaseLock(Client& client, std::string namespace_name,
                     std::string name)
    : client_(client),
      namespace_(std::move(namespace_name)),
      name_(std::move(name)) {}

std::optional<LeaseSpec> LeaseLock::Get(const std::stop_token& stop) {
  try {
    lease_ = client_.Get<Lease>(namespace_, name_, stop);
  } catch (const ApiError& error) {
    if (error.code() != 404) throw;
    lease_ = nullptr;
    return std::nullopt;
  }
  return lease_->spec;
}

void LeaseLock::Create(const LeaseSpec& spec, const std::stop_token& stop) {
  Lease lease{.spec = spec};
  lease.metadata.namespace_name = namespace_;
  lease.metadata.name = name_;
  lease_ = client_.Create(lease, stop);
}

void LeaseLock::Update(const LeaseSpec& spec, const std::stop_token& stop) {
  Lease lease = *lease_;
  lease.spec = spec;
  lease_ = client_.Update(lease, stop);
}

std::string LeaseLock::Describe() const { return namespace_ + "/" + name_; }

ObjectReference LeaseLock::Reference() const {
  return {Lease::kResource.ApiVersion(), std::string(Lease::kResource.kind),
          namespace_, name_, lease_ ? lease_->metadata.uid : ""};
}

}  // namespace minisched
