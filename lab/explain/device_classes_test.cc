#include "lab/explain/device_classes.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "lab/explain/errors.h"
#include "lab/explain/experiment_testing.h"

namespace minisched::explain {
namespace {

using nlohmann::json;

struct DeviceClassCase {
  std::string requests;
  std::string spec;  // of the class gpus
  std::string plugin = "Unsupported";
};

// Returns what CheckDeviceClasses() throws, or "" if it doesn't throw.
std::string Check(const DeviceClassCase& test) {
  Experiment experiment = WebExperiment("");
  json list = json::parse(experiment.objects.manifests[0].json);
  list["items"][2]["spec"]["containers"][0]["resources"] = {
      {"requests", json::parse(test.requests)},
      {"limits", json::parse(test.requests)}};
  list["items"].push_back({{"apiVersion", "resource.k8s.io/v1"},
                           {"kind", "DeviceClass"},
                           {"metadata", {{"name", "gpus"}}},
                           {"spec", json::parse(test.spec)}});
  experiment.objects.manifests[0].json = list.dump();
  Trial trial(experiment, {}, {});
  const json point = {{"plugin", test.plugin}};
  const Outcome outcome{.attempt = {{"points", json::array({point})}},
                        .program = "minisched-04"};
  try {
    CheckDeviceClasses(trial, outcome);
    return "";
  } catch (const CannotTell& error) {
    return error.what();
  }
}

TEST(DeviceClassesTest, CannotTellForAResourceOfADeviceClass) {
  EXPECT_EQ(Check({R"({"example.com/gpu": "1"})",
                   R"({"extendedResourceName": "example.com/gpu"})"}),
            "can't tell: the DeviceClass gpus serves example.com/gpu, and "
            "minisched-04 does not support resource claims for it; pass "
            "kube-scheduler as --scheduler");
  EXPECT_NE(Check({R"({"deviceclass.resource.kubernetes.io/gpus": "1"})",
                   R"({"extendedResourceName": "example.com/gpu"})"}),
            "");
  EXPECT_NE(
      Check({R"({"deviceclass.resource.kubernetes.io/gpus": "1"})", "{}"}), "");
}

TEST(DeviceClassesTest, AcceptsOtherResources) {
  EXPECT_EQ(Check({R"({"example.com/fpga": "1", "cpu": "1"})",
                   R"({"extendedResourceName": "example.com/gpu"})"}),
            "");
  EXPECT_EQ(Check({R"({"example.com/gpu": "0"})",
                   R"({"extendedResourceName": "example.com/gpu"})"}),
            "");
  EXPECT_EQ(Check({R"({"example.com/gpu": "1"})", "{}"}), "");
}

TEST(DeviceClassesTest, AcceptsASchedulerThatMaySupportClaims) {
  EXPECT_EQ(Check({R"({"example.com/gpu": "1"})",
                   R"({"extendedResourceName": "example.com/gpu"})",
                   "NodeResourcesFit"}),
            "");
}

}  // namespace
}  // namespace minisched::explain
