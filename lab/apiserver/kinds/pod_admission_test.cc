#include "lab/apiserver/kinds/pod_admission.h"

#include "lab/apiserver/kinds/strategy_testing.h"

namespace minisched::apiserver {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class PodAdmissionTest : public StrategyTest {
 protected:
  static Json Web(const Json& spec = Json::object()) {
    return With(R"({"metadata": {"name": "web", "namespace": "t"},
                    "spec": {"containers": [{"name": "c", "image": "i"}]}})"_json,
                {{"spec", spec}});
  }
  Json SpecOf(const Json& pod) { return Create("v1", "Pod", pod)["spec"]; }
  std::vector<std::string> ErrorsOf(const Json& pod) {
    return CreateErrors("v1", "Pod", pod);
  }
  // Returns the spec of a pod that is restored.
  Json Restored(const Json& pod) {
    return (*registry_.Restore(*FindKind("v1", "Pod"), pod))["spec"];
  }
  static Json Requests(const std::string& resource, const std::string& amount) {
    return {{"containers",
             {{{"name", "c"},
               {"image", "i"},
               {"resources", {{"requests", {{resource, amount}}}}}}}}};
  }

  void CreateKata() {
    Create("node.k8s.io/v1", "RuntimeClass", R"({
      "metadata": {"name": "kata"}, "handler": "kata",
      "overhead": {"podFixed": {"cpu": "3"}},
      "scheduling": {
        "nodeSelector": {"runtime": "kata"},
        "tolerations": [{"key": "kata", "operator": "Exists"}]}})"_json);
  }
  void CreateRange(const Json& item) {
    Create("v1", "LimitRange",
           {{"metadata", {{"name", "range"}}}, {"spec", {{"limits", {item}}}}});
  }
};

TEST_F(PodAdmissionTest, ARuntimeClassAddsOverheadSelectorAndTolerations) {
  CreateKata();
  const Json spec = SpecOf(
      Web({{"runtimeClassName", "kata"}, {"nodeSelector", {{"zone", "a"}}}}));
  EXPECT_EQ(spec["overhead"], R"({"cpu": "3"})"_json);
  EXPECT_EQ(spec["nodeSelector"], R"({"zone": "a", "runtime": "kata"})"_json);
  EXPECT_EQ(spec["tolerations"].back(),
            R"({"key": "kata", "operator": "Exists"})"_json);
}

TEST_F(PodAdmissionTest, ARuntimeClassMustExistAndAgree) {
  EXPECT_THAT(
      ErrorsOf(Web({{"runtimeClassName", "kata"}})),
      ElementsAre("403 pods \"web\" is forbidden: pod rejected: RuntimeClass "
                  "\"kata\" not found"));
  CreateKata();
  EXPECT_THAT(
      ErrorsOf(
          Web({{"runtimeClassName", "kata"}, {"overhead", {{"cpu", "1"}}}})),
      ElementsAre("403 pods \"web\" is forbidden: pod rejected: Pod's Overhead "
                  "doesn't match RuntimeClass's defined Overhead"));
  EXPECT_THAT(
      ErrorsOf(Web({{"runtimeClassName", "kata"},
                    {"nodeSelector", {{"runtime", "runc"}}}})),
      ElementsAre("403 pods \"web\" is forbidden: conflict: "
                  "runtimeClass.scheduling.nodeSelector[runtime] = kata; "
                  "pod.spec.nodeSelector[runtime] = runc"));
}

TEST_F(PodAdmissionTest, ALimitRangeHasDefaults) {
  CreateRange(R"({"type": "Container", "defaultRequest": {"cpu": "1"},
                  "max": {"cpu": "2"}, "min": {"memory": "1Mi"}})"_json);
  const Json resources = SpecOf(Web())["containers"][0]["resources"];
  EXPECT_EQ(resources, R"({"requests": {"cpu": "1", "memory": "1Mi"},
                           "limits": {"cpu": "2"}})"_json);
}

TEST_F(PodAdmissionTest, TheDefaultsOfALimitRangeAreForWhatIsMissing) {
  CreateRange(
      R"({"type": "Container", "default": {"cpu": "2", "memory": "1Gi"}})"_json);
  const Json spec =
      SpecOf(Web(R"({"initContainers": [{"name": "i", "image": "i"}],
              "containers": [{"name": "c", "image": "i", "resources":
                {"limits": {"cpu": "4"}}}]})"_json));
  EXPECT_EQ(spec["containers"][0]["resources"],
            R"({"requests": {"cpu": "4", "memory": "1Gi"},
                "limits": {"cpu": "4", "memory": "1Gi"}})"_json);
  EXPECT_EQ(spec["initContainers"][0]["resources"]["requests"],
            R"({"cpu": "2", "memory": "1Gi"})"_json);
}

// The messages are those of upstream's admission.go.
TEST_F(PodAdmissionTest, ALimitRangeForbidsPods) {
  CreateRange(R"({"type": "Pod", "max": {"cpu": "2"},
                  "min": {"memory": "1Gi"}})"_json);
  EXPECT_THAT(
      ErrorsOf(Web(R"({"containers": [{"name": "c", "image": "i", "resources":
        {"requests": {"cpu": "1"}, "limits": {"cpu": "3"}}}]})"_json)),
      ElementsAre("403 pods \"web\" is forbidden: [minimum memory usage per "
                  "Pod is 1Gi.  No request is specified, maximum cpu usage per "
                  "Pod is 2, but limit is 3]"));
  EXPECT_THAT(
      ErrorsOf(Web(R"({"containers": [{"name": "c", "image": "i", "resources":
        {"requests": {"memory": "1Mi"}, "limits": {"cpu": "1"}}}]})"_json)),
      ElementsAre("403 pods \"web\" is forbidden: minimum memory usage per Pod "
                  "is 1Gi, but request is 1Mi"));
  EXPECT_THAT(
      ErrorsOf(Web(R"({"containers": [{"name": "c", "image": "i", "resources":
        {"requests": {"memory": "2Gi"}, "limits": {"cpu": "1"}}}]})"_json)),
      IsEmpty());
}

TEST_F(PodAdmissionTest, OtherNamespacesHaveTheirOwnLimitRanges) {
  CreateRange(R"({"type": "Container", "default": {"cpu": "2"}})"_json);
  Json pod = Web();
  pod["metadata"]["namespace"] = "other";
  EXPECT_EQ(Restored(pod)["containers"][0]["resources"], Json::object());
}

TEST_F(PodAdmissionTest, ARestoredPodWithoutAUidIsCompleted) {
  CreateKata();
  CreateRange(R"({"type": "Container", "defaultRequest": {"cpu": "1"}})"_json);
  Create("scheduling.k8s.io/v1", "PriorityClass",
         R"({"metadata": {"name": "high"}, "value": 7})"_json);
  Json pod = Web({{"priorityClassName", "high"},
                  {"runtimeClassName", "kata"},
                  {"topologySpreadConstraints",
                   {{{"topologyKey", "zone"},
                     {"matchLabelKeys", {"app"}},
                     {"labelSelector", Json::object()}}}}});
  pod["metadata"]["labels"]["app"] = "web";
  pod["status"]["phase"] = "Running";
  Json spec = Restored(pod);
  EXPECT_EQ(spec["priority"], 7);
  EXPECT_EQ(spec["overhead"], R"({"cpu": "3"})"_json);
  EXPECT_EQ(spec["containers"][0]["resources"]["requests"]["cpu"], "1");
  EXPECT_EQ(spec["tolerations"].size(), 3);
  EXPECT_EQ(spec["topologySpreadConstraints"][0]["labelSelector"],
            R"({"matchExpressions": [
                 {"key": "app", "operator": "In", "values": ["web"]}]})"_json);
  EXPECT_EQ(Stored({{"apiVersion", "v1"},
                    {"kind", "Pod"},
                    {"metadata", pod["metadata"]}})["status"]["phase"],
            "Running");
  // What was completed before stays as it is.
  pod["spec"] = spec;
  EXPECT_EQ(Restored(pod), spec);
}

TEST_F(PodAdmissionTest, ARestoredPodKeepsItsPriority) {
  Create("scheduling.k8s.io/v1", "PriorityClass",
         R"({"metadata": {"name": "all"}, "value": 7,
             "globalDefault": true})"_json);
  EXPECT_EQ(Restored(Web())["priority"], 7);
  EXPECT_EQ(Restored(Web({{"priority", 0}}))["priority"], 0);
  EXPECT_EQ(Restored(Web({{"priorityClassName", "none"}}))["priority"], 0);
  Json pod = Web({{"priorityClassName", "all"}});
  pod["metadata"]["uid"] = "u";
  EXPECT_FALSE(Restored(pod).contains("priority"));
}

}  // namespace
}  // namespace minisched::apiserver
