#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "minisched/apiserver/errors.h"
#include "minisched/apiserver/schema/schema.h"

namespace minisched::apiserver {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> NormalizeAs(std::string_view api_version,
                                     std::string_view kind, Json* object) {
  return Normalize(*object, *Schema::Get().Find(api_version, kind));
}

// The container as it is in a pod that is normalized, or the pod's spec.
Json Container(const Json& container) {
  Json pod = {{"spec", {{"containers", {container}}}}};
  NormalizeAs("v1", "Pod", &pod);
  return pod["spec"]["containers"][0];
}
Json Spec(const Json& spec) {
  Json pod = {{"spec", spec}};
  NormalizeAs("v1", "Pod", &pod);
  return pod["spec"];
}

TEST(NormalizeTest, WritesWhatGoWrites) {
  Json pod = Json::parse(R"({
    "apiVersion": "v1", "kind": "Pod",
    "metadata": {"name": "web", "labels": {}, "generation": 0,
                 "creationTimestamp": null, "uid": "",
                 "managedFields": [{"manager": "kubectl"}]},
    "spec": {"containers": [{"name": "c", "image": "i", "env": []}],
             "priority": 0, "hostNetwork": false, "nodeName": ""}})");
  EXPECT_THAT(NormalizeAs("v1", "Pod", &pod), IsEmpty());
  EXPECT_EQ(pod, Json::parse(R"({
    "apiVersion": "v1", "kind": "Pod",
    "metadata": {"name": "web"},
    "spec": {"containers": [{"name": "c", "image": "i", "resources": {}}],
             "priority": 0},
    "status": {}})"));
}

TEST(NormalizeTest, AddsWhatIsAlwaysThere) {
  Json event = {{"reason", "Scheduled"}};
  NormalizeAs("v1", "Event", &event);
  EXPECT_EQ(event, Json::parse(R"({
    "reason": "Scheduled", "metadata": {}, "involvedObject": {}, "source": {},
    "firstTimestamp": null, "lastTimestamp": null, "eventTime": null,
    "reportingComponent": "", "reportingInstance": ""})"));
  EXPECT_EQ(Spec(Json::object()), Json({{"containers", nullptr}}));
}

TEST(NormalizeTest, ReadsNullAsZero) {
  EXPECT_EQ(Spec({{"containers", {nullptr}},
                  {"nodeSelector", {{"a", nullptr}}},
                  {"priority", nullptr},
                  {"hostname", nullptr}}),
            Json::parse(R"({"containers": [{"name": "", "resources": {}}],
                            "nodeSelector": {"a": ""}})"));
}

TEST(NormalizeTest, MakesQuantitiesCanonical) {
  EXPECT_EQ(Container({{"name", "c"},
                       {"resources",
                        {{"requests",
                          {{"cpu", 0.5},
                           {"memory", "1024Mi"},
                           {"x", 2},
                           {"y", "1e3"},
                           {"z", nullptr}}}}}})["resources"],
            Json({{"requests",
                   {{"cpu", "500m"},
                    {"memory", "1Gi"},
                    {"x", "2"},
                    {"y", "1e3"},
                    {"z", "0"}}}}));
}

TEST(NormalizeTest, MakesTimesUtc) {
  Json lease = {
      {"metadata", {{"creationTimestamp", "2026-11-21T10:00:00.9+02:00"}}},
      {"spec", {{"renewTime", "2026-11-21T10:00:00.250000+02:00"}}}};
  NormalizeAs("coordination.k8s.io/v1", "Lease", &lease);
  EXPECT_EQ(lease["metadata"]["creationTimestamp"], "2026-11-21T08:00:00Z");
  EXPECT_EQ(lease["spec"]["renewTime"], "2026-11-21T08:00:00.250000Z");
}

TEST(NormalizeTest, NamesUnknownFields) {
  Json pod = Json::parse(R"({
    "Spec": {}, "spec": {"foo": 1, "nodeSelector": {"any": "x"},
      "containers": [{"name": "a"}, {"resources": {"bar": {}}}]}})");
  EXPECT_THAT(NormalizeAs("v1", "Pod", &pod),
              ElementsAre("unknown field \"Spec\"",
                          "unknown field \"spec.containers[1].resources.bar\"",
                          "unknown field \"spec.foo\""));
  EXPECT_FALSE(pod.contains("Spec"));
}

TEST(NormalizeTest, SaysWhatUpstreamSaysOfAWrongType) {
  const struct {
    Json spec;
    std::string message;
  } kCases[] = {
      {"x",
       "json: cannot unmarshal string into Go struct field Pod.spec of type "
       "v1.PodSpec"},
      {{{"containers", "x"}},
       "json: cannot unmarshal string into Go struct field "
       "PodSpec.spec.containers of type []v1.Container"},
      {{{"containers", {1}}},
       "json: cannot unmarshal number into Go struct field "
       "PodSpec.spec.containers of type v1.Container"},
      {{{"restartPolicy", true}},
       "json: cannot unmarshal bool into Go struct field "
       "PodSpec.spec.restartPolicy of type v1.RestartPolicy"},
      {{{"nodeSelector", {{"a", 1}}}},
       "json: cannot unmarshal number into Go struct field "
       "PodSpec.spec.nodeSelector of type string"},
      {{{"priority", 3'000'000'000}},
       "json: cannot unmarshal number 3000000000 into Go struct field "
       "PodSpec.spec.priority of type int32"},
      {{{"terminationGracePeriodSeconds", 1.5}},
       "json: cannot unmarshal number 1.5 into Go struct field "
       "PodSpec.spec.terminationGracePeriodSeconds of type int64"},
      {{{"volumes", {{{"emptyDir", Json::array()}}}}},
       "json: cannot unmarshal array into Go struct field "
       "Volume.spec.volumes.emptyDir of type "
       "v1.EmptyDirVolumeSource"},
      {{{"overhead", {{"cpu", "1 core"}}}},
       "quantities must match the regular expression "
       "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
      {{{"overhead", 1}},
       "json: cannot unmarshal number into Go struct field "
       "PodSpec.spec.overhead of type v1.ResourceList"},
  };
  for (const auto& [spec, message] : kCases) {
    try {
      Spec(spec);
      ADD_FAILURE() << spec;
    } catch (const StatusError& error) {
      EXPECT_EQ(error.code(), 400);
      EXPECT_EQ(error.what(),
                "Pod in version \"v1\" cannot be handled as a Pod: " + message);
    }
  }
}

TEST(NormalizeTest, SaysWhatIsWrongWithATime) {
  const struct {
    std::string api_version, kind;
    Json object;
    std::string message;
  } kCases[] = {
      {"v1",
       "Pod",
       {{"metadata", {{"creationTimestamp", "now"}}}},
       "parsing time \"now\" as \"2006-01-02T15:04:05Z07:00\": cannot parse "
       "\"now\" as \"2006\""},
      {"v1",
       "Pod",
       {{"metadata", {{"creationTimestamp", 5}}}},
       "json: cannot unmarshal number into Go struct field "
       "ObjectMeta.metadata.creationTimestamp of type string"},
      {"coordination.k8s.io/v1",
       "Lease",
       {{"spec", {{"renewTime", "2026-11-21T10:00:00Z"}}}},
       "parsing time \"2026-11-21T10:00:00Z\" as "
       "\"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"Z\" as "
       "\".000000\""},
  };
  for (const auto& [api_version, kind, object, message] : kCases) {
    Json copy = object;
    try {
      NormalizeAs(api_version, kind, &copy);
      ADD_FAILURE() << object;
    } catch (const StatusError& error) {
      EXPECT_EQ(error.what(), kind +
                                  " in version \"v1\" cannot be handled as a " +
                                  kind + ": " + message);
    }
  }
}

}  // namespace
}  // namespace minisched::apiserver
