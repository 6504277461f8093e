#include <boost/algorithm/string/replace.hpp>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "lab/apiserver/controllers/controllers.h"
#include "lab/apiserver/controllers/volume_binding.h"
#include "lab/apiserver/kinds/volumes.h"

namespace minisched::apiserver {
namespace {

// Returns a node affinity with one requirement for each label.
Json AffinityTo(const Json& labels) {
  if (labels.empty()) return nullptr;
  Json requirements = Json::array();
  for (const auto& [key, value] : labels.items()) {
    requirements.push_back(
        {{"key", key}, {"operator", "In"}, {"values", {value}}});
  }
  return {{"required",
           {{"nodeSelectorTerms", {{{"matchExpressions", requirements}}}}}}};
}

// Returns the labels of the nodes from which a volume for this node is
// reachable.
Json TopologyOf(const Json& node) {
  for (const char* key :
       {"topology.kubernetes.io/zone", "kubernetes.io/hostname"}) {
    const Json& value = Get(node, "metadata", "labels", key);
    if (!value.is_null()) return {{key, value}};
  }
  return {{"kubernetes.io/hostname", NameOf(node)}};
}

// Returns the first topology that the class allows, or null if it allows all.
Json FirstTopology(const Json& its_class) {
  const Json& all = Get(its_class, "allowedTopologies");
  Json labels;
  if (all.empty()) return labels;
  for (const Json& term : Get(all.front(), "matchLabelExpressions")) {
    labels[GetString(term, "key")] = term["values"].front();
  }
  return labels;
}

// Identifies an attempt to make a volume for a claim on its selected node.
std::string AttemptOf(const Json& claim) {
  return UidOf(claim) + " " + GetString(Annotation(claim, kSelectedNode));
}

std::string VolumeNameFor(const Json& claim) { return "pvc-" + UidOf(claim); }

class VolumeProvisioner : public Controller {
 public:
  VolumeProvisioner(Registry& registry, ClaimFaults faults)
      : Controller(registry, "external-provisioner"),
        faults_(std::move(faults)) {
    const auto enqueue = [this](const Event& event) {
      if (event.type != Event::Type::kDeleted) Enqueue(*event.object);
    };
    Watch("persistentvolumes", enqueue);
    Watch("persistentvolumeclaims", enqueue);
  }

 private:
  struct Attempt {
    bool ready = false;  // the provisioner has an answer
    std::optional<StatusError> error;
  };

  void Sync(const ObjectKey& key) override {
    const Object object = Find(key);
    if (!object || IsTerminating(*object)) return;
    if (key.ns.empty()) return DeleteIfReleased(key, *object);
    if (!AsksForVolume(*object)) return;
    const auto attempt = attempts_.find(AttemptOf(*object));
    if (attempt == attempts_.end()) return Start(key, *object);
    if (!attempt->second.ready) return;
    const Attempt ended = attempt->second;
    attempts_.erase(attempt);
    if (ended.error) return Fail(key, *object, ended.error->what());
    CreateVolume(key, *object);
  }

  void DeleteIfReleased(const ObjectKey& key, const Json& volume) {
    if (Get(volume, "status", "phase") == "Released" &&
        Get(volume, "spec", "persistentVolumeReclaimPolicy") == "Delete" &&
        !Annotation(volume, kProvisionedBy).is_null()) {
      registry_.Delete(*key.row, "", key.name);
    }
  }

  // True if a claim without a volume asks for one. A claim that waits for its
  // consumer asks when a scheduler has selected a node.
  bool AsksForVolume(const Json& claim) {
    return GetString(claim, "spec", "volumeName").empty() &&
           !Annotation(claim, kStorageProvisioner).is_null() &&
           FindStorageClass(store_, claim) &&
           (!WaitsForConsumer(store_, claim) ||
            !Annotation(claim, kSelectedNode).is_null()) &&
           !Find({&volumes_, "", VolumeNameFor(claim)});
  }

  void Start(const ObjectKey& key, const Json& claim) {
    Record(claim, "Normal", "Provisioning",
           "External provisioner is provisioning volume for claim \"" +
               PathOf(claim) + "\"");
    const std::string attempt = AttemptOf(claim);
    const FaultEffect effect = faults_(key);
    attempts_[attempt] = {.error = effect.error};
    if (effect.EndsRequest() && !effect.error) return;  // it never ends
    registry_.loop().After(effect.latency, [=, this] {
      attempts_[attempt].ready = true;
      Enqueue(key);
    });
  }

  // Reports a failure. If a scheduler has selected the node, the scheduler has
  // to select a node again.
  void Fail(const ObjectKey& key, const Json& claim, const std::string& why) {
    Record(claim, "Warning", "ProvisioningFailed",
           "failed to provision volume with StorageClass \"" +
               StorageClassOf(claim) + "\": " + why);
    if (Annotation(claim, kSelectedNode).is_null()) {
      return Enqueue(key, std::chrono::seconds(1));
    }
    Edit(key, "", [](Json& edited) {
      edited["metadata"]["annotations"].erase(kSelectedNode);
    });
  }

  void CreateVolume(const ObjectKey& key, const Json& claim) {
    const std::string node_name = GetString(Annotation(claim, kSelectedNode));
    const Object node = store_.Find("nodes", {"", node_name});
    if (!node_name.empty() && !node) {
      return Fail(
          key, claim,
          "failed to get target node: node \"" + node_name + "\" not found");
    }
    const Object its_class = FindStorageClass(store_, claim);
    const std::string name = VolumeNameFor(claim);
    const std::string provisioner = GetString(*its_class, "provisioner");
    const Json& spec = Get(claim, "spec");
    registry_.Create(
        volumes_, "",
        {{"metadata",
          {{"name", name}, {"annotations", {{kProvisionedBy, provisioner}}}}},
         {"spec",
          {{"accessModes", Get(spec, "accessModes")},
           {"capacity",
            {{"storage", Get(spec, "resources", "requests", "storage")}}},
           {"claimRef", ClaimReference(claim)},
           {"csi",
            {{"driver", boost::replace_all_copy(provisioner, "/", ".")},
             {"volumeHandle", name}}},
           {"mountOptions", Get(*its_class, "mountOptions")},
           {"nodeAffinity",
            AffinityTo(node ? TopologyOf(*node) : FirstTopology(*its_class))},
           {"persistentVolumeReclaimPolicy", Get(*its_class, "reclaimPolicy")},
           {"storageClassName", NameOf(*its_class)},
           {"volumeMode", Get(spec, "volumeMode")}}}});
    Record(claim, "Normal", "ProvisioningSucceeded",
           "Successfully provisioned volume " + name);
  }

  const ResourceRow& volumes_ = GetResource("", "persistentvolumes");
  const ClaimFaults faults_;
  std::map<std::string, Attempt> attempts_;  // by AttemptOf()
};

}  // namespace

std::unique_ptr<Controller> NewVolumeProvisioner(Registry& registry,
                                                 ClaimFaults faults) {
  return std::make_unique<VolumeProvisioner>(registry, std::move(faults));
}

}  // namespace minisched::apiserver
