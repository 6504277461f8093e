#pragma once

#include <string>

#include "minisched/apiserver/controller.h"

namespace minisched::apiserver {

// Deletes what belongs, by its ownerReferences, to objects that are gone; has
// what is being deleted in the foreground wait for its dependents, or lets them
// be orphans. Objects with owners of kinds that aren't served are left alone.
// Follows pkg/controller/garbagecollector.
//
// Also deletes events an hour after they were last seen, as etcd's leases do.
class GarbageCollector : public Controller {
 public:
  explicit GarbageCollector(Registry& registry);

 private:
  void Sync(const ObjectKey& key) override;
  void OnEvent(const Event& event);
  // Whoever `object` belongs to may be waiting for it.
  void EnqueueOwners(const Json& object);

  void Collect(const ObjectKey& key, const Json& object);
  void DeleteInForeground(const ObjectKey& key, const Json& object);
  void FinishForeground(const ObjectKey& key, const Json& object);
  void Orphan(const ObjectKey& key, const Json& object);
  void RemoveFinalizer(const ObjectKey& key, const char* finalizer);
  void DeleteOldEvents();

  Index dependents_;  // by the uids of their owners
};

}  // namespace minisched::apiserver
