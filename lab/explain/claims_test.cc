#include "lab/explain/claims.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "lab/explain/objects.h"

namespace minisched::explain {
namespace {

using Json = nlohmann::json;

class ClaimsTest : public ::testing::Test {
 protected:
  // Returns the cause, or "".
  std::string Problem() {
    Objects objects;
    for (const Json& object : {pod_, claim_, class_, volume_}) {
      if (!object.is_null()) objects.Add(object, "dump");
    }
    const Experiment experiment{
        .pod = {"default", "web"},
        .scheduler_name = "minisched",
        .is_new = is_new_,
        .objects = objects.SelectFor({"default", "web"}, "")};
    Trial trial(experiment, {}, {});
    const auto problem = FindClaimProblem(trial, {});
    if (problem) reason_ = problem->reason;
    return problem ? problem->cause : "";
  }

  bool is_new_ = false;
  std::string reason_;
  Json pod_ = {{"apiVersion", "v1"},
               {"kind", "Pod"},
               {"metadata", {{"name", "web"}, {"namespace", "default"}}},
               {"spec",
                {{"containers", {{{"name", "c"}, {"image", "i"}}}},
                 {"volumes",
                  {{{"name", "v"},
                    {"persistentVolumeClaim", {{"claimName", "data"}}}}}}}}};
  Json claim_ = {{"apiVersion", "v1"},
                 {"kind", "PersistentVolumeClaim"},
                 {"metadata", {{"name", "data"}, {"namespace", "default"}}},
                 {"spec", {{"storageClassName", "fast"}}}};
  Json class_ = {{"apiVersion", "storage.k8s.io/v1"},
                 {"kind", "StorageClass"},
                 {"metadata", {{"name", "fast"}}},
                 {"provisioner", "p"},
                 {"volumeBindingMode", "Immediate"}};
  Json volume_;
};

TEST_F(ClaimsTest, MustExist) {
  claim_ = nullptr;
  EXPECT_EQ(Problem(), "persistentvolumeclaim \"data\" not found");
  pod_["spec"]["volumes"] = {
      {{"name", "v"}, {"ephemeral", {{"volumeClaimTemplate", {}}}}}};
  EXPECT_EQ(Problem(),
            "waiting for ephemeral volume controller to create the "
            "persistentvolumeclaim \"web-v\"");
  is_new_ = true;
  EXPECT_EQ(Problem(), "");
  pod_["spec"]["volumes"] = {{{"name", "v"}}};
  EXPECT_EQ(Problem(), "");
}

TEST_F(ClaimsTest, MustBeAlive) {
  claim_["metadata"]["deletionTimestamp"] = "2026-01-02T03:04:05Z";
  EXPECT_EQ(Problem(), "persistentvolumeclaim \"data\" is being deleted");
  claim_["status"]["phase"] = "Lost";
  claim_["spec"]["volumeName"] = "pv";
  EXPECT_EQ(Problem(),
            "persistentvolumeclaim \"data\" bound to non-existent "
            "persistentvolume \"pv\"");
}

TEST_F(ClaimsTest, MustBeBoundUnlessTheClassWaitsForThePod) {
  EXPECT_EQ(Problem(),
            "pod has unbound immediate PersistentVolumeClaims: data has no "
            "volume yet");
  EXPECT_EQ(reason_, "pod has unbound immediate PersistentVolumeClaims");
  // The provisioner may make the volume.
  is_new_ = true;
  EXPECT_EQ(Problem(), "");
  is_new_ = false;
  class_["volumeBindingMode"] = "WaitForFirstConsumer";
  EXPECT_EQ(Problem(), "");
  class_["volumeBindingMode"] = "Immediate";
  claim_["spec"]["volumeName"] = "pv";
  EXPECT_EQ(Problem(), "");
}

TEST_F(ClaimsTest, AMissingClassNeedsAVolume) {
  class_ = nullptr;
  is_new_ = true;
  EXPECT_EQ(Problem(),
            "pod has unbound immediate PersistentVolumeClaims: data has the "
            "StorageClass fast, which does not exist");
  volume_ = {{"apiVersion", "v1"},
             {"kind", "PersistentVolume"},
             {"metadata", {{"name", "pv"}}},
             {"spec", {{"storageClassName", "fast"}}}};
  EXPECT_EQ(Problem(), "");
}

}  // namespace
}  // namespace minisched::explain
