// What runtime classes and limit ranges add to new pods, and forbid.

#include "lab/contract/pod_testing.h"

namespace minisched {
namespace {

class PodAdmissionContractTest : public PodContractTest {
 protected:
  // Creates a class that is deleted after the test, and returns its name.
  std::string CreateRuntimeClass(const json& change) {
    std::string name = Unique("rc");
    json runtime_class = Named(name, {{"handler", "kata"}});
    runtime_class.merge_patch(change);
    Create("runtimeclasses", runtime_class);
    DeleteLater("runtimeclasses/" + name);
    return name;
  }

  // Creates the namespace's limit range with this item.
  void CreateRange(const json& item) {
    Create("limitranges", Named("range", {{"spec", {{"limits", {item}}}}}));
    // The real server's admission plugin reads the ranges from a cache, which
    // may be stale.
    Await("admission to find the range", [&] {
      return !(TryContainer(json::object()).body["spec"] == without_range_);
    });
  }

  void SetUp() override {
    without_range_ = TryContainer(json::object()).body["spec"];
  }

  json without_range_;
};

TEST_F(PodAdmissionContractTest, ARuntimeClassAddsWhatItNeeds) {
  const std::string name = CreateRuntimeClass(R"({
    "overhead": {"podFixed": {"cpu": "250m"}},
    "scheduling": {"nodeSelector": {"runtime": "kata"},
                   "tolerations": [{"key": "kata", "operator": "Exists",
                                    "effect": "NoSchedule"}]}})"_json);
  const Reply reply =
      Try({{"runtimeClassName", name}, {"nodeSelector", {{"zone", "a"}}}});
  EXPECT_THAT(reply, Answers(201, R"({"spec": {
      "overhead": {"cpu": "250m"},
      "nodeSelector": {"zone": "a", "runtime": "kata"}}})"_json));
  EXPECT_THAT(reply.body["spec"]["tolerations"],
              testing::Contains(R"({"key": "kata", "operator": "Exists",
                                    "effect": "NoSchedule"})"_json));
}

TEST_F(PodAdmissionContractTest, ARuntimeClassMustExistAndAgree) {
  EXPECT_THAT(Try({{"runtimeClassName", "contract-none"}}),
              Refuses(403, "Forbidden",
                      "pods \"p\" is forbidden: pod rejected: RuntimeClass "
                      "\"contract-none\" not found"));
  const std::string name = CreateRuntimeClass(R"({
    "overhead": {"podFixed": {"cpu": "250m"}},
    "scheduling": {"nodeSelector": {"runtime": "kata"}}})"_json);
  EXPECT_THAT(
      Try({{"runtimeClassName", name}, {"overhead", {{"cpu", "0.25"}}}}),
      Answers(201));
  EXPECT_THAT(Try({{"runtimeClassName", name}, {"overhead", {{"cpu", "1"}}}}),
              Refuses(403, "Forbidden",
                      "pods \"p\" is forbidden: pod rejected: Pod's Overhead "
                      "doesn't match RuntimeClass's defined Overhead"));
  EXPECT_THAT(Try({{"runtimeClassName", name},
                   {"nodeSelector", {{"runtime", "runc"}}}}),
              Refuses(403, "Forbidden",
                      "pods \"p\" is forbidden: conflict: "
                      "runtimeClass.scheduling.nodeSelector[runtime] = kata; "
                      "pod.spec.nodeSelector[runtime] = runc"));
}

TEST_F(PodAdmissionContractTest, ALimitRangeHasDefaults) {
  CreateRange(R"({"type": "Container", "defaultRequest": {"cpu": "1"},
                  "max": {"cpu": "2"}, "min": {"memory": "1Mi"}})"_json);
  EXPECT_EQ(
      TryContainer(json::object()).body["spec"]["containers"][0]["resources"],
      R"({"requests": {"cpu": "1", "memory": "1Mi"},
                "limits": {"cpu": "2"}})"_json);
  EXPECT_EQ(TryContainer(R"({"resources": {"limits": {"cpu": "1500m"}}})"_json)
                .body["spec"]["containers"][0]["resources"],
            R"({"requests": {"cpu": "1500m", "memory": "1Mi"},
                "limits": {"cpu": "1500m"}})"_json);
}

TEST_F(PodAdmissionContractTest, ALimitRangeForbidsContainers) {
  CreateRange(R"({"type": "Container", "default": {"cpu": "1"},
                  "min": {"cpu": "100m"}, "max": {"cpu": "2"}})"_json);
  const auto refuses = [](const std::string& why) {
    return Refuses(403, "Forbidden", "pods \"p\" is forbidden: " + why);
  };
  EXPECT_THAT(TryContainer(R"({"resources": {"limits": {"cpu": "3"}}})"_json),
              refuses("maximum cpu usage per Container is 2, but limit is 3"));
  EXPECT_THAT(
      TryContainer(R"({"resources": {"requests": {"cpu": "50m"}}})"_json),
      refuses("minimum cpu usage per Container is 100m, but request is 50m"));
}

TEST_F(PodAdmissionContractTest, ALimitRangeForbidsPods) {
  CreateRange(R"({"type": "Pod", "max": {"cpu": "2"}})"_json);
  EXPECT_THAT(
      Try({{"containers",
            {R"({"name": "a", "image": "i", "resources":
                 {"limits": {"cpu": "1500m"}}})"_json,
             R"({"name": "b", "image": "i", "resources":
                 {"limits": {"cpu": "1"}}})"_json}}}),
      Refuses(403, "Forbidden",
              "pods \"p\" is forbidden: maximum cpu usage per Pod is 2, but "
              "limit is 2500m"));
  EXPECT_THAT(TryContainer(json::object()),
              Refuses(403, "Forbidden",
                      "pods \"p\" is forbidden: maximum cpu usage per Pod is "
                      "2.  No limit is specified"));
}

}  // namespace
}  // namespace minisched
