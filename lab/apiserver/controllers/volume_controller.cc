#include <algorithm>
#include <boost/algorithm/string/join.hpp>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lab/apiserver/controllers/controllers.h"
#include "lab/apiserver/controllers/volume_binding.h"
#include "lab/apiserver/kinds/volumes.h"

namespace minisched::apiserver {
namespace {

constexpr char kClaims[] = "persistentvolumeclaims";
constexpr char kVolumes[] = "persistentvolumes";
constexpr char kLost[] = "Data on the volume is lost!";

// Returns the path of the volume's claim, or else the volume's class.
std::vector<std::string> VolumeKeys(const Json& volume) {
  const Json& claim = Get(volume, "spec", "claimRef");
  if (claim.is_null()) return {"class:" + StorageClassOf(volume)};
  return {GetString(claim, "namespace") + "/" + GetString(claim, "name")};
}

// Returns the name of the claim's volume, or else the claim's class.
std::vector<std::string> ClaimKeys(const Json& claim) {
  const std::string volume = GetString(claim, "spec", "volumeName");
  return {volume.empty() ? "class:" + StorageClassOf(claim) : volume};
}

class VolumeController : public Controller {
 public:
  VolumeController(Registry& registry, ClaimFaults faults)
      : Controller(registry, "persistentvolume-controller"),
        faults_(std::move(faults)),
        volumes_(store_, kVolumes, VolumeKeys),
        claims_(store_, kClaims, ClaimKeys),
        pods_(store_, "pods", ClaimPathsOf) {
    Watch(kClaims, [this](const Event& event) { OnClaim(event); });
    Watch(kVolumes, [this](const Event& event) { OnVolume(event); });
    Watch("storageclasses.storage.k8s.io", [this](const Event& event) {
      for (const std::string& name : {NameOf(*event.object), std::string()}) {
        for (const Object& claim : FreeClaims(name)) Enqueue(*claim);
      }
    });
  }

 private:
  // Returns the claims of a class that have no volume, in the order of their
  // paths, so that each run binds the same claims.
  std::vector<Object> FreeClaims(const std::string& class_name) {
    std::vector<Object> claims = claims_["class:" + class_name];
    std::ranges::sort(claims, {}, [](const Object& c) { return PathOf(*c); });
    return claims;
  }

  void OnClaim(const Event& event) {
    if (event.type != Event::Type::kDeleted) Enqueue(*event.object);
    for (const Object& volume : volumes_[PathOf(*event.object)]) {
      Enqueue(*volume);
    }
  }

  void OnVolume(const Event& event) {
    const Json& volume = *event.object;
    for (const Object& claim : claims_[NameOf(volume)]) Enqueue(*claim);
    if (event.type == Event::Type::kDeleted) return;
    Enqueue(volume);
    const Json& reference = Get(volume, "spec", "claimRef");
    if (!reference.is_null()) {
      const ObjectKey key = {&GetResource("", kClaims),
                             GetString(reference, "namespace"),
                             GetString(reference, "name")};
      if (Find(key)) Enqueue(key);
    } else if (Get(volume, "status", "phase") == "Available") {
      // Other claims stay in their state, so their events would only repeat.
      for (const Object& claim : FreeClaims(StorageClassOf(volume))) {
        const bool fits = Mismatch(volume, *claim).empty();
        if (fits && !WaitsForConsumer(store_, *claim)) Enqueue(*claim);
      }
    }
  }

  void Sync(const ObjectKey& key) override {
    const Object object = Find(key);
    if (!object) return;
    if (key.ns.empty()) {
      SyncVolume(*object);
    } else if (!Annotation(*object, kBindCompleted).is_null()) {
      SyncBoundClaim(*object);
    } else if (GetString(*object, "spec", "volumeName").empty()) {
      SyncFreeClaim(*object);
    } else {
      SyncPreboundClaim(*object);
    }
  }

  // Binds a claim that names no volume, or leaves it pending.
  void SyncFreeClaim(const Json& claim) {
    const bool waits = WaitsForConsumer(store_, claim);
    std::vector<Object> volumes = volumes_[PathOf(claim)];
    if (!waits) {
      std::ranges::copy(volumes_["class:" + StorageClassOf(claim)],
                        std::back_inserter(volumes));
    }
    if (const Object volume = FindVolume(volumes, claim, waits)) {
      return Bind(*volume, claim);
    }
    const Object by_default = DefaultStorageClass(store_);
    if (by_default && !HasStorageClass(claim)) {
      return Edit(KeyOf(claim), "", [&](Json& edited) {
        edited["spec"]["storageClassName"] = NameOf(*by_default);
      });
    }
    if (waits && Annotation(claim, kSelectedNode).is_null()) {
      RecordWaiting(claim);
    } else if (!StorageClassOf(claim).empty()) {
      return RequestVolume(claim);
    } else {
      Record(claim, "Normal", "FailedBinding",
             "no persistent volumes available for this claim and no storage "
             "class is set");
    }
    SetClaimStatus(claim, "Pending", nullptr);
  }

  void RecordWaiting(const Json& claim) {
    std::vector<std::string> pods;
    for (const Object& pod : pods_[PathOf(claim)]) {
      const bool pending = GetString(*pod, "spec", "nodeName").empty();
      if (pending) pods.push_back(NameOf(*pod));
    }
    std::ranges::sort(pods);
    if (pods.empty()) {
      return Record(claim, "Normal", "WaitForFirstConsumer",
                    "waiting for first consumer to be created before binding");
    }
    Record(claim, "Normal", "WaitForPodScheduled",
           std::string("waiting for pod") + (pods.size() > 1 ? "s " : " ") +
               boost::algorithm::join(pods, ",") + " to be scheduled");
  }

  // Asks the provisioner of the claim's class for a volume.
  void RequestVolume(const Json& claim) {
    const auto fail = [&](const std::string& message) {
      Record(claim, "Warning", "ProvisioningFailed", message);
    };
    const Object its_class = FindStorageClass(store_, claim);
    if (!its_class) {
      return fail("storageclass.storage.k8s.io \"" + StorageClassOf(claim) +
                  "\" not found");
    }
    const std::string provisioner = GetString(*its_class, "provisioner");
    if (provisioner.starts_with("kubernetes.io/")) {
      return fail("no volume plugin matched name: " + provisioner);
    }
    Edit(KeyOf(claim), "", [&](Json& edited) {
      Json& annotations = edited["metadata"]["annotations"];
      annotations[kStorageProvisioner] = provisioner;
      annotations["volume.beta.kubernetes.io/storage-provisioner"] =
          provisioner;
    });
    Record(claim, "Normal", "ExternalProvisioning",
           "Waiting for a volume to be created either by the external "
           "provisioner '" +
               provisioner +
               "' or manually by the system administrator. If volume creation "
               "is delayed, please verify that the provisioner is running and "
               "correctly registered.");
  }

  // Binds a claim to the volume that its spec names, or leaves it pending.
  void SyncPreboundClaim(const Json& claim) {
    const std::string name = GetString(claim, "spec", "volumeName");
    const Object volume = store_.Find(kVolumes, {"", name});
    if (volume && IsBoundTo(*volume, claim)) return Bind(*volume, claim);
    if (volume && Get(*volume, "spec", "claimRef").is_null()) {
      const std::string why = Mismatch(*volume, claim);
      if (why.empty()) return Bind(*volume, claim);
      Record(claim, "Warning", "VolumeMismatch",
             "Cannot bind to requested volume \"" + name + "\": " + why);
    } else if (volume) {
      Record(claim, "Warning", "FailedBinding",
             "volume \"" + name + "\" already bound to a different claim.");
    }
    SetClaimStatus(claim, "Pending", nullptr);
  }

  // Repairs the binding of a claim, or marks the claim as lost.
  void SyncBoundClaim(const Json& claim) {
    const std::string name = GetString(claim, "spec", "volumeName");
    const auto lose = [&](const char* reason, const std::string& message) {
      if (Get(claim, "status", "phase") == "Lost") return;
      SetClaimStatus(claim, "Lost", nullptr);
      Record(claim, "Warning", reason, message);
    };
    if (name.empty()) {
      return lose("ClaimLost", std::string("Bound claim has lost reference to "
                                           "PersistentVolume. ") +
                                   kLost);
    }
    const Object volume = store_.Find(kVolumes, {"", name});
    if (!volume) {
      return lose(
          "ClaimLost",
          std::string("Bound claim has lost its PersistentVolume. ") + kLost);
    }
    const Json& reference = Get(*volume, "spec", "claimRef");
    if (!reference.is_null() && GetString(reference, "uid") != UidOf(claim)) {
      return lose("ClaimMisbound",
                  "Two claims are bound to the same volume, this one is bound "
                  "incorrectly");
    }
    Bind(*volume, claim);
  }

  void SyncVolume(const Json& volume) {
    const Json& reference = Get(volume, "spec", "claimRef");
    const std::string uid = GetString(reference, "uid");
    if (uid.empty()) return SetPhase(volume, "Available");
    const Object claim = store_.Find(
        kClaims,
        {GetString(reference, "namespace"), GetString(reference, "name")});
    if (!claim || UidOf(*claim) != uid) return Release(volume);
    const std::string its_volume = GetString(*claim, "spec", "volumeName");
    if (its_volume.empty()) return;  // the claim's sync binds the claim
    if (its_volume == NameOf(volume)) return SetPhase(volume, "Bound");
    const bool provisioned = !Annotation(volume, kProvisionedBy).is_null();
    const Json& policy = Get(volume, "spec", "persistentVolumeReclaimPolicy");
    if (provisioned && policy == "Delete") return Release(volume);
    Unbind(volume);
  }

  // Marks a volume whose claim is gone. The provisioner deletes the volumes
  // that it made.
  void Release(const Json& volume) {
    const Json& phase = Get(volume, "status", "phase");
    if (phase == "Failed") return;
    SetPhase(volume, "Released");
    const Json& spec = Get(volume, "spec");
    if (Get(spec, "persistentVolumeReclaimPolicy") != "Delete" ||
        spec.contains("csi") || !Annotation(volume, kProvisionedBy).is_null()) {
      return;
    }
    const std::string message =
        "error getting deleter volume plugin for "
        "volume \"" +
        NameOf(volume) + "\": no volume plugin matched";
    SetPhase(volume, "Failed", message);
    Record(volume, "Warning", "VolumeFailedDelete", message);
  }

  // Undoes the binding of a volume to a claim that has another volume.
  void Unbind(const Json& volume) {
    Edit(KeyOf(volume), "", [](Json& edited) {
      if (Annotation(edited, kBoundByController).is_null()) {
        edited["spec"]["claimRef"].erase("uid");
      } else {
        edited["spec"].erase("claimRef");
        edited["metadata"]["annotations"].erase(kBoundByController);
      }
    });
    SetPhase(volume, "Available");
  }

  // Applies the injected faults to the binding of a claim. Returns true if the
  // claim must not be bound now.
  bool IsLate(const Json& claim) {
    const std::string uid = UidOf(claim);
    if (const auto found = ready_.find(uid); found != ready_.end()) {
      if (!found->second) return true;
      ready_.erase(found);
      return false;
    }
    const ObjectKey key = KeyOf(claim);
    const FaultEffect effect = faults_(key);
    if (effect.error) throw *effect.error;  // the claim is synced again
    if (effect.EndsRequest()) {
      ready_[uid] = false;
    } else if (effect.latency > effect.latency.zero()) {
      ready_[uid] = false;
      registry_.loop().After(effect.latency, [=, this] {
        ready_[uid] = true;
        Enqueue(key);
      });
    }
    return ready_.contains(uid);
  }

  // Binds a volume and a claim to each other.
  void Bind(const Json& volume, const Json& claim) {
    if (Annotation(claim, kBindCompleted).is_null() && IsLate(claim)) return;
    Edit(KeyOf(volume), "", [&](Json& edited) {
      if (!IsBoundTo(edited, claim)) {
        edited["metadata"]["annotations"][kBoundByController] = "yes";
      }
      Json& reference = edited["spec"]["claimRef"];
      if (!IsBoundTo(edited, claim) ||
          GetString(reference, "uid") != UidOf(claim)) {
        reference = ClaimReference(claim);
      }
    });
    SetPhase(volume, "Bound");
    Edit(KeyOf(claim), "", [&](Json& edited) {
      Json& annotations = edited["metadata"]["annotations"];
      if (GetString(edited, "spec", "volumeName") != NameOf(volume)) {
        edited["spec"]["volumeName"] = NameOf(volume);
        annotations[kBoundByController] = "yes";
      }
      annotations[kBindCompleted] = "yes";
    });
    SetClaimStatus(claim, "Bound", &volume);
  }

  void SetPhase(const Json& volume, const char* phase,
                const std::string& message = "") {
    Edit(KeyOf(volume), "status", [&](Json& edited) {
      Json& status = edited["status"];
      if (Get(status, "phase") == phase) return;
      status["phase"] = phase;
      status["message"] = message;
      status["lastPhaseTransitionTime"] = registry_.Now();
    });
  }

  // Sets a claim's phase, and what its status says about its volume, which is
  // nullptr for a claim without a volume.
  void SetClaimStatus(const Json& claim, const char* phase,
                      const Json* volume) {
    Edit(KeyOf(claim), "status", [&](Json& edited) {
      Json& status = edited["status"];
      const bool changes = Get(status, "phase") != phase;
      status["phase"] = phase;
      const Json none;
      const Json& spec = volume == nullptr ? none : Get(*volume, "spec");
      CopyMember(spec, "accessModes", status);
      // A bound claim may be smaller than its volume, while it is resized.
      if (!changes && volume != nullptr) return;
      CopyMember(spec, "capacity", status);
      status["currentVolumeAttributesClassName"] =
          Get(spec, "volumeAttributesClassName");
    });
  }

  const ClaimFaults faults_;
  // The claims, by uid, that a fault holds up. True: the time is over.
  std::map<std::string, bool> ready_;
  const Index volumes_;  // by VolumeKeys()
  const Index claims_;   // by ClaimKeys()
  const Index pods_;     // by the paths of their claims
};

}  // namespace

std::unique_ptr<Controller> NewVolumeController(Registry& registry,
                                                ClaimFaults faults) {
  return std::make_unique<VolumeController>(registry, std::move(faults));
}

}  // namespace minisched::apiserver
