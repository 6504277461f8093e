#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "minisched/api/lease.h"
#include "minisched/api/reference.h"
#include "minisched/client/client.h"

namespace minisched {

// The Lease of an election on the server, and its last known version. The calls
// block, and throw what Client throws. Not thread-safe. Follows client-go
// tools/leaderelection/resourcelock/leaselock.go.
class LeaseLock {
 public:
  // `client` must outlive the object.
  LeaseLock(Client& client, std::string namespace_name, std::string name);

  // Returns the spec of the Lease, or nullopt if there is no Lease.
  std::optional<LeaseSpec> Get(const std::stop_token& stop);
  void Create(const LeaseSpec& spec, const std::stop_token& stop);
  // Replaces the spec of the last known version. Fails with ApiError (409) if
  // the Lease has changed since. REQUIRES: is_known().
  void Update(const LeaseSpec& spec, const std::stop_token& stop);

  // Returns true if another call has found or created the Lease.
  bool is_known() const { return lease_ != nullptr; }

  // Returns "namespace/name".
  std::string Describe() const;
  // Returns the reference to the Lease for an event.
  ObjectReference Reference() const;

 private:
  Client& client_;
  const std::string namespace_;
  const std::string name_;
  std::shared_ptr<const Lease> lease_;
};

}  // namespace minisched
