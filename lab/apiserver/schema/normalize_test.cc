#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/apiserver/schema/schema.h"
#include "minisched/api/parse_error.h"

namespace minisched::apiserver {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<std::string> NormalizeAs(std::string_view api_version,
                                     std::string_view kind, Json* object) {
  return Normalize(*object, *Schema::Get().Find(api_version, kind));
}

// Normalizes a pod with this container or spec, and returns the normalized
// container or spec.
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

TEST(NormalizeTest, KeepsTheFieldsThatGoWrites) {
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

TEST(NormalizeTest, AddsFieldsThatAreAlwaysWritten) {
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

TEST(NormalizeTest, RoundsAmountsToThousandthsAwayFromZero) {
  const auto rounded = [](const char* amount) {
    const Json resources = {{"requests", {{"cpu", amount}}}};
    const Json container = Container({{"resources", resources}});
    return container["resources"]["requests"]["cpu"];
  };
  EXPECT_EQ(rounded("1.0001"), "1001m");
  EXPECT_EQ(rounded("-1.0001"), "-1001m");
  EXPECT_EQ(rounded("9223372036854775.80701"), "9223372036854775808m");
  EXPECT_EQ(rounded("9223372036854775807"), "9223372036854775807");
  EXPECT_EQ(rounded("-9223372036854775808"), "-9223372036854775808");
}

TEST(NormalizeTest, MakesTimesUtc) {
  Json lease = {
      {"metadata", {{"creationTimestamp", "2026-11-21T10:00:00.9+02:00"}}},
      {"spec", {{"renewTime", "2026-11-21T10:00:00.250000+02:00"}}}};
  NormalizeAs("coordination.k8s.io/v1", "Lease", &lease);
  EXPECT_EQ(lease["metadata"]["creationTimestamp"], "2026-11-21T08:00:00Z");
  EXPECT_EQ(lease["spec"]["renewTime"], "2026-11-21T08:00:00.250000Z");
}

TEST(NormalizeTest, DropsAndReportsUnknownFields) {
  Json pod = Json::parse(R"({
    "Spec": {}, "spec": {"foo": 1, "nodeSelector": {"any": "x"},
      "containers": [{"name": "a"}, {"resources": {"bar": {}}}]}})");
  EXPECT_THAT(NormalizeAs("v1", "Pod", &pod),
              ElementsAre("unknown field \"Spec\"",
                          "unknown field \"spec.containers[1].resources.bar\"",
                          "unknown field \"spec.foo\""));
  EXPECT_FALSE(pod.contains("Spec"));
}

// Returns the error of Normalize() for an object of that kind, or "".
std::string ErrorOf(std::string_view api_version, std::string_view kind,
                    Json object) {
  try {
    NormalizeAs(api_version, kind, &object);
    return "";
  } catch (const ParseError& error) {
    return error.what();
  }
}

TEST(NormalizeTest, ReportsAtMostAHundredUnknownFields) {
  Json pod = Json::object();
  for (int i = 0; i < 150; ++i) pod["x" + std::to_string(i)] = i;
  EXPECT_THAT(NormalizeAs("v1", "Pod", &pod), SizeIs(100));
  EXPECT_FALSE(pod.contains("x149"));
}

TEST(NormalizeTest, ErrorsNameTheFieldWithTheWrongType) {
  const struct {
    Json spec;
    std::string message;
  } kCases[] = {
      {"x", "json: cannot unmarshal string into spec of type object"},
      {{{"containers", "x"}},
       "json: cannot unmarshal string into spec.containers of type array"},
      {{{"containers", {1}}},
       "json: cannot unmarshal number into spec.containers[0] of type "
       "object"},
      {{{"restartPolicy", true}},
       "json: cannot unmarshal boolean into spec.restartPolicy of type string"},
      {{{"nodeSelector", {{"a", 1}}}},
       "json: cannot unmarshal number into spec.nodeSelector.a of type "
       "string"},
      {{{"priority", 3'000'000'000}},
       "json: cannot unmarshal number 3000000000 into spec.priority of type "
       "int32"},
      {{{"terminationGracePeriodSeconds", 1.5}},
       "json: cannot unmarshal number 1.5 into "
       "spec.terminationGracePeriodSeconds of type int64"},
      {{{"volumes", {{{"emptyDir", Json::array()}}}}},
       "json: cannot unmarshal array into spec.volumes[0].emptyDir of type "
       "object"},
      {{{"overhead", {{"cpu", "1 core"}}}},
       "quantities must match the regular expression "
       "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
      {{{"overhead", {{"cpu", true}}}},
       "json: cannot unmarshal boolean into spec.overhead.cpu of type "
       "quantity"},
  };
  for (const auto& [spec, message] : kCases) {
    EXPECT_EQ(ErrorOf("v1", "Pod", {{"spec", spec}}), message);
  }
}

TEST(NormalizeTest, BytesAreBase64) {
  Json secret = {{"data", {{"a", "YWI=\n"}, {"b", ""}, {"c", "YQ\r\n=="}}}};
  NormalizeAs("v1", "Secret", &secret);
  EXPECT_EQ(secret["data"], Json({{"a", "YWI="}, {"b", ""}, {"c", "YQ=="}}));
  for (const char* text : {"abc", "a===", "====", "ab=c", "ab-_", "ab c"}) {
    EXPECT_EQ(ErrorOf("v1", "Secret", {{"data", {{"a", text}}}}),
              "illegal base64 data in data.a")
        << text;
  }
}

TEST(NormalizeTest, ErrorsNameTheInvalidTime) {
  EXPECT_EQ(
      ErrorOf("v1", "Pod", {{"metadata", {{"creationTimestamp", "now"}}}}),
      "parsing time \"now\" as \"2006-01-02T15:04:05Z07:00\": cannot parse "
      "metadata.creationTimestamp");
  EXPECT_EQ(ErrorOf("v1", "Pod", {{"metadata", {{"creationTimestamp", 5}}}}),
            "json: cannot unmarshal number into metadata.creationTimestamp "
            "of type string");
  EXPECT_EQ(ErrorOf("coordination.k8s.io/v1", "Lease",
                    {{"spec", {{"renewTime", "2026-11-21T10:00:00Z"}}}}),
            "parsing time \"2026-11-21T10:00:00Z\" as "
            "\"2006-01-02T15:04:05.000000Z07:00\": cannot parse "
            "spec.renewTime");
}

}  // namespace
}  // namespace minisched::apiserver
