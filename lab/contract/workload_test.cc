// Deployments and replica sets. Their controllers may run, so most tests use
// dry runs or zero replicas.

#include "lab/contract/contract_testing.h"

namespace minisched {
namespace {

struct Kind {
  std::string resource;
  std::string kind;

  friend void PrintTo(const Kind& kind, std::ostream* os) { *os << kind.kind; }
};

class WorkloadTest : public ContractTest,
                     public testing::WithParamInterface<Kind> {
 protected:
  const std::string& resource() { return GetParam().resource; }
  const std::string& kind() { return GetParam().kind; }

  static json Workload(const json& spec = json::object()) {
    json workload = Named("w", R"({"spec": {
      "replicas": 0, "selector": {"matchLabels": {"a": "b"}},
      "template": {"metadata": {"labels": {"a": "b"}},
        "spec": {"schedulerName": "contract",
                 "containers": [{"name": "c", "image": "i"}]}}}})"_json);
    workload["spec"].merge_patch(spec);
    return workload;
  }

  std::string CreateWorkload() {
    Create(resource(), Workload());
    return resource() + "/w";
  }

  Reply Try(const json& spec) {
    return Post(resource() + "?dryRun=All", Workload(spec));
  }

  testing::Matcher<const Reply&> InvalidWorkload(
      const std::vector<std::string>& errors) {
    return Invalid(kind() + ".apps", "w", errors);
  }

  static testing::Matcher<const Reply&> Generation(int generation) {
    return Answers(200, {{"metadata", {{"generation", generation}}}});
  }
};

TEST_P(WorkloadTest, SetsDefaults) {
  const Reply reply = Try({{"replicas", nullptr}});
  EXPECT_THAT(reply, Answers(201, {{"kind", kind()},
                                   {"apiVersion", "apps/v1"},
                                   {"metadata", {{"generation", 1}}},
                                   {"spec", {{"replicas", 1}}}}));
  // The template gets the defaults of pods, but not the fields that admission
  // plugins set, such as tolerations.
  EXPECT_EQ(reply.body.at("spec").at("template"), R"({
    "metadata": {"labels": {"a": "b"}},
    "spec": {
      "containers": [{"name": "c", "image": "i", "resources": {},
                      "terminationMessagePath": "/dev/termination-log",
                      "terminationMessagePolicy": "File",
                      "imagePullPolicy": "Always"}],
      "restartPolicy": "Always", "terminationGracePeriodSeconds": 30,
      "dnsPolicy": "ClusterFirst", "securityContext": {},
      "schedulerName": "contract"}})"_json);
}

TEST_P(WorkloadTest, RejectsASelectorThatDoesNotMatch) {
  EXPECT_THAT(Try(R"({"selector": {"matchLabels": {"a": "c"}}})"_json),
              InvalidWorkload({"spec.template.metadata.labels: Invalid value: "
                               "{\"a\":\"b\"}: `selector` does not match "
                               "template `labels`"}));
  EXPECT_THAT(Try({{"selector", nullptr}}),
              InvalidWorkload({"spec.selector: Required value",
                               "spec.template.metadata.labels: Invalid value: "
                               "{\"a\":\"b\"}: `selector` does not match "
                               "template `labels`"}));
}

TEST_P(WorkloadTest, RejectsInvalidWorkloads) {
  EXPECT_THAT(Try({{"replicas", -1}}),
              InvalidWorkload({"spec.replicas: Invalid value: -1: must be "
                               "greater than or equal to 0"}));
  EXPECT_THAT(
      Try(R"({"template": {"spec": {"containers": []}}})"_json),
      InvalidWorkload({"spec.template.spec.containers: Required value"}));
  EXPECT_THAT(
      Try(R"({"template": {"spec": {"restartPolicy": "Never"}}})"_json),
      InvalidWorkload({"spec.template.spec.restartPolicy: Unsupported value: "
                       "\"Never\": supported values: \"Always\""}));
}

TEST_P(WorkloadTest, RejectsChangesOfTheSelector) {
  const std::string path = CreateWorkload();
  EXPECT_THAT(
      MergePatch(path, R"({"spec": {
        "selector": {"matchLabels": {"q": "b"}},
        "template": {"metadata": {"labels": {"q": "b"}}}}})"_json),
      InvalidWorkload({"spec.selector: Invalid value: {\"matchLabels\":"
                       "{\"a\":\"b\",\"q\":\"b\"}}: field is immutable"}));
}

TEST_P(WorkloadTest, GenerationCountsChangesOfTheSpec) {
  const std::string path = CreateWorkload();
  EXPECT_THAT(MergePatch(path, R"({"metadata": {"labels": {"z": "1"}}})"_json),
              Generation(1));
  EXPECT_THAT(MergePatch(path, R"({"spec": {"minReadySeconds": 3}})"_json),
              Generation(2));
  EXPECT_THAT(MergePatch(path, R"({"spec": {"minReadySeconds": 3}})"_json),
              Generation(2));
  EXPECT_THAT(MergePatch(path, R"({"metadata": {"generation": 9}})"_json),
              Generation(2));
}

TEST_P(WorkloadTest, StatusAndSpecChangeSeparately) {
  const std::string path = CreateWorkload();
  EXPECT_THAT(MergePatch(path + "/status", R"({"spec": {"minReadySeconds": 3},
                     "status": {"conditions": [{"type": "x.y/Z",
                                                "status": "True"}]}})"_json),
              Answers(200, R"({
        "metadata": {"generation": 1},
        "spec": {"minReadySeconds": null},
        "status": {"conditions": [{"type": "x.y/Z"}]}})"_json));
  EXPECT_THAT(MergePatch(path, R"({"status": {"readyReplicas": 5}})"_json),
              Answers(200, R"({"status": {"readyReplicas": null}})"_json));
  EXPECT_THAT(Get(path + "/status"), Answers(200, {{"kind", kind()}}));
}

TEST_P(WorkloadTest, ReturnsTheScale) {
  const json workload = Create(resource(), Workload());
  const std::string path = resource() + "/w/scale";
  // The server omits zero replicas.
  EXPECT_THAT(Get(path), Answers(200, {{"kind", "Scale"},
                                       {"apiVersion", "autoscaling/v1"},
                                       {"metadata",
                                        {{"name", "w"},
                                         {"namespace", namespace_name()},
                                         {"uid", Uid(workload)},
                                         {"resourceVersion", "..."},
                                         {"creationTimestamp", "..."}}},
                                       {"spec", {{"replicas", nullptr}}},
                                       {"status", {{"selector", "a=b"}}}}));
  EXPECT_THAT(
      Get(resource() + "/none/scale"),
      Refuses(404, "NotFound", resource() + ".apps \"none\" not found"));
}

TEST_P(WorkloadTest, ScaleChangesReplicas) {
  // Gates keep the controllers' pods from being scheduled.
  json workload = Workload();
  workload["spec"]["template"]["spec"]["schedulingGates"] = {{{"name", "g"}}};
  Create(resource(), workload);
  const std::string path = resource() + "/w";
  EXPECT_THAT(MergePatch(path + "/scale", R"({"spec": {"replicas": 2}})"_json),
              Answers(200, R"({"kind": "Scale",
                               "spec": {"replicas": 2}})"_json));
  EXPECT_THAT(Get(path), Answers(200, R"({"metadata": {"generation": 2},
                                         "spec": {"replicas": 2}})"_json));
  EXPECT_THAT(Put(path + "/scale", Named("w", R"({"spec":
                                              {"replicas": 1}})"_json)),
              Answers(200, R"({"spec": {"replicas": 1}})"_json));
  EXPECT_EQ(Read(path).at("spec").at("replicas"), 1);
}

TEST_P(WorkloadTest, RejectsInvalidScales) {
  const std::string path = CreateWorkload() + "/scale";
  EXPECT_THAT(MergePatch(path, R"({"spec": {"replicas": -2}})"_json),
              Invalid("Scale.autoscaling", "w",
                      {"spec.replicas: Invalid value: -2: must be greater than "
                       "or equal to 0"}));
  EXPECT_THAT(Put(path, Named("z")),
              Refuses(400, "BadRequest",
                      "the name of the object (z) does not match the name on "
                      "the URL (w)"));
  EXPECT_THAT(
      Put(path, Named("w", R"({"metadata": {"resourceVersion": "1"}})"_json)),
      Refuses(
          409, "Conflict",
          testing::StartsWith("Operation cannot be fulfilled on " + resource() +
                              ".apps \"w\": the object has "
                              "been modified")));
}

TEST_P(WorkloadTest, DeletionReturnsAStatus) {
  const std::string path = CreateWorkload();
  EXPECT_THAT(
      Delete(path, {{"propagationPolicy", "Background"}}),
      Answers(200,
              {{"kind", "Status"},
               {"details",
                {{"name", "w"}, {"group", "apps"}, {"kind", resource()}}}}));
  EXPECT_THAT(Get(path), Answers(404));
}

INSTANTIATE_TEST_SUITE_P(Kinds, WorkloadTest,
                         testing::Values(Kind{"deployments", "Deployment"},
                                         Kind{"replicasets", "ReplicaSet"}),
                         [](const auto& info) { return info.param.kind; });

using DeploymentTest = ContractTest;

json Deployment(const json& spec) {
  json deployment = Named("d", R"({"spec": {
    "selector": {"matchLabels": {"a": "b"}}, "replicas": 0,
    "template": {"metadata": {"labels": {"a": "b"}},
                 "spec": {"containers": [{"name": "c", "image": "i"}]}}}})"_json);
  deployment["spec"].merge_patch(spec);
  return deployment;
}

TEST_F(DeploymentTest, SetsDefaults) {
  EXPECT_THAT(Post("deployments?dryRun=All", Deployment(json::object())),
              Answers(201, R"({
                "spec": {"strategy": {"type": "RollingUpdate",
                           "rollingUpdate": {"maxUnavailable": "25%",
                                             "maxSurge": "25%"}},
                         "revisionHistoryLimit": 10,
                         "progressDeadlineSeconds": 600},
                "status": {}})"_json));
}

TEST_F(DeploymentTest, RejectsInvalidStrategies) {
  const auto expect = [&](const char* strategy, const std::string& error) {
    EXPECT_THAT(Post("deployments?dryRun=All",
                     Deployment({{"strategy", json::parse(strategy)}})),
                Invalid("Deployment.apps", "d", {"spec.strategy" + error}))
        << strategy;
  };
  expect(R"({"type": "Recreate", "rollingUpdate": {}})",
         ".rollingUpdate: Forbidden: may not be specified when strategy `type` "
         "is 'Recreate'");
  expect(R"({"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}})",
         ".rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when "
         "`maxSurge` is 0");
}

TEST_F(DeploymentTest, RejectsAnEmptySelector) {
  EXPECT_THAT(Post("deployments?dryRun=All",
                   Deployment({{"selector", {{"matchLabels", nullptr}}}})),
              Invalid("Deployment.apps", "d",
                      {"spec.selector: Invalid value: {}: empty selector is "
                       "invalid for deployment"}));
}

}  // namespace
}  // namespace minisched
