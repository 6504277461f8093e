#pragma once

#include <memory>
#include <stop_token>
#include <vector>

#include "minisched/api/namespace.h"
#include "minisched/api/persistent_volume.h"
#include "minisched/api/service.h"
#include "minisched/api/storage.h"
#include "minisched/api/workloads.h"
#include "minisched/base/fake_clock.h"
#include "minisched/client/client.h"
#include "minisched/informer/shared_informer_factory.h"
#include "testing/scripted_cluster.h"

namespace minisched {

// Informers of a cluster that has these objects, which are namespaces,
// services, workloads, claims, volumes, classes, drivers and capacities, or
// vectors of them.
class InformersOf {
 public:
  template <class... T>
  explicit InformersOf(const T&... objects) {
    (Add(objects), ...);
    client_ = std::make_unique<Client>(cluster_.config(), clock_);
    informers_ = std::make_unique<SharedInformerFactory>(*client_, clock_);
    informers_->Of<Namespace>();
    informers_->Of<Service>();
    informers_->Of<ReplicationController>();
    informers_->Of<ReplicaSet>();
    informers_->Of<StatefulSet>();
    informers_->Of<PersistentVolume>();
    informers_->Of<PersistentVolumeClaim>();
    informers_->Of<StorageClass>();
    informers_->Of<CSIDriver>();
    informers_->Of<CSIStorageCapacity>();
    informers_->Start(stop_.get_token());
    informers_->WaitForCacheSync({});
  }

  SharedInformerFactory& Get() { return *informers_; }

 private:
  template <class T>
  void Add(T object) {
    object.metadata.resource_version = "1";
    cluster_.Add(object);
  }
  template <class T>
  void Add(const std::vector<T>& objects) {
    for (const T& object : objects) Add(object);
  }

  FakeClock clock_;
  ScriptedCluster cluster_{clock_};
  std::unique_ptr<Client> client_;
  std::unique_ptr<SharedInformerFactory> informers_;
  std::stop_source stop_;
};

}  // namespace minisched
