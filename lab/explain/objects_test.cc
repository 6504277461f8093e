#include "lab/explain/objects.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "lab/explain/errors.h"
#include "lab/explain/kept_fields.h"

namespace minisched::explain {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

using Json = nlohmann::json;

Json PodJson(const std::string& name, const Json& changes = Json::object()) {
  Json pod = {{"apiVersion", "v1"},
              {"kind", "Pod"},
              {"metadata", {{"name", name}, {"namespace", "a"}}}};
  pod.merge_patch(changes);
  return pod;
}

// Returns "Kind namespace/name" of all objects that are copied.
std::vector<std::string> Copied(const Objects& objects,
                                const NamespacedName& target,
                                const std::string& group = "") {
  std::vector<std::string> names;
  for (const auto& manifest : objects.SelectFor(target, group).manifests) {
    const Json object = Json::parse(manifest.json);
    const Json& metadata = object["metadata"];
    names.push_back(object["kind"].get<std::string>() + " " +
                    metadata.value("namespace", "") + "/" +
                    metadata["name"].get<std::string>());
  }
  return names;
}

std::string CopiedText(const Objects& objects, const NamespacedName& target) {
  std::string text;
  for (const auto& manifest : objects.SelectFor(target, "").manifests) {
    text += manifest.json;
  }
  return text;
}

const Json kGroup = {{"metadata", {{"labels", {{kPodGroupLabel, "g"}}}}}};

TEST(ObjectsTest, APodWithoutAUidOwnsItsClaims) {
  Objects objects;
  objects.Add(PodJson("web"), "dump");
  objects.Add({{"apiVersion", "v1"},
               {"kind", "PersistentVolumeClaim"},
               {"metadata",
                {{"name", "web-v"},
                 {"namespace", "a"},
                 {"ownerReferences",
                  {{{"kind", "Pod"}, {"name", "web"}, {"uid", "old"}}}}}}},
              "dump");
  const auto pod = objects.SelectFor({"a", "web"}, "").manifests.back().json;
  EXPECT_EQ(Json::parse(pod)["metadata"]["uid"], "old");
}

TEST(ObjectsTest, LeavesOutOtherPendingAndEndedPods) {
  Objects objects;
  objects.Add(PodJson("target"), "dump");
  objects.Add(PodJson("pending"), "dump");
  objects.Add(PodJson("bound", {{"spec", {{"nodeName", "n"}}}}), "dump");
  objects.Add(PodJson("ended", {{"spec", {{"nodeName", "n"}}},
                                {"status", {{"phase", "Failed"}}}}),
              "dump");
  EXPECT_THAT(Copied(objects, {"a", "target"}),
              UnorderedElementsAre("Pod a/target", "Pod a/bound",
                                   "Namespace /a", "Namespace /default"));
}

TEST(ObjectsTest, KeepsTheGroupOfThePod) {
  Objects objects;
  objects.Add(PodJson("target", kGroup), "dump");
  objects.Add(PodJson("member", kGroup), "dump");
  Json other = PodJson("elsewhere", kGroup);
  other["metadata"]["namespace"] = "b";
  objects.Add(other, "dump");
  EXPECT_THAT(
      Copied(objects, {"a", "target"}, "g"),
      UnorderedElementsAre("Pod a/target", "Pod a/member", "Namespace /a",
                           "Namespace /b", "Namespace /default"));
}

// A new pod is not among the objects.
TEST(ObjectsTest, KeepsTheGroupOfANewPod) {
  Objects objects;
  objects.Add(PodJson("member", kGroup), "dump");
  EXPECT_THAT(Copied(objects, {"a", "new"}, "g"),
              ::testing::Contains("Pod a/member"));
  EXPECT_THAT(Copied(objects, {"a", "new"}, "h"),
              Not(::testing::Contains("Pod a/member")));
}

// Otherwise the pod would be left out as a pending one, without a warning.
TEST(ObjectsTest, ANodeNameOfAWrongTypeIsAnError) {
  Objects objects;
  for (const Json& spec : {Json(3), Json{{"nodeName", 3}}}) {
    try {
      objects.Add(PodJson("other", {{"spec", spec}}), "dump");
      ADD_FAILURE() << spec;
    } catch (const CannotTell& error) {
      EXPECT_STREQ(error.what(),
                   "dump: Pod a/other: spec.nodeName is no string: correct the "
                   "field");
    }
  }
}

TEST(ObjectsTest, AddsAMissingPriorityClass) {
  Objects objects;
  objects.Add(PodJson("target", {{"spec",
                                  {{"priorityClassName", "high"},
                                   {"priority", 7},
                                   {"preemptionPolicy", "Never"}}}}),
              "dump");
  EXPECT_THAT(Copied(objects, {"a", "target"}),
              ::testing::Contains("PriorityClass /high"));
  EXPECT_THAT(CopiedText(objects, {"a", "target"}),
              HasSubstr(R"("preemptionPolicy":"Never","value":7)"));
}

Json ClaimJson(const std::string& name, const Json& spec = Json::object()) {
  return {{"apiVersion", "v1"},
          {"kind", "PersistentVolumeClaim"},
          {"metadata", {{"name", name}, {"namespace", "a"}}},
          {"spec", spec}};
}

TEST(ObjectsTest, AddClaimKeepsAClaimThatIsThere) {
  Objects objects;
  objects.AddNew(ClaimJson("data", {{"volumeName", "first"}}), "dump");
  objects.AddNew(ClaimJson("data", {{"volumeName", "second"}}), "dump");
  const std::string text = CopiedText(objects, {"a", "target"});
  EXPECT_THAT(text, HasSubstr("first"));
  EXPECT_THAT(text, Not(HasSubstr("second")));
}

TEST(ObjectsTest, AClaimWithoutAClassGetsTheNewestDefaultClass) {
  Objects objects;
  const auto add_class = [&](const char* name, const char* created,
                             const char* is_default) {
    objects.Add(
        {{"apiVersion", "storage.k8s.io/v1"},
         {"kind", "StorageClass"},
         {"metadata",
          {{"name", name},
           {"creationTimestamp", created},
           {"annotations",
            {{"storageclass.kubernetes.io/is-default-class", is_default}}}}}},
        "dump");
  };
  const auto class_of = [&](const std::string& name) {
    for (const auto& manifest : objects.SelectFor({"a", "x"}, "").manifests) {
      const Json object = Json::parse(manifest.json);
      if (object["metadata"]["name"] == name) {
        return object["spec"].value("storageClassName", "none");
      }
    }
    return std::string("no claim");
  };
  objects.AddNew(ClaimJson("before"), "dump");
  add_class("a", "2026-01-01T00:00:00Z", "true");
  add_class("b", "2026-01-03T00:00:00Z", "true");
  add_class("c", "2026-01-03T00:00:00Z", "true");
  add_class("d", "2026-01-04T00:00:00Z", "false");
  objects.AddNew(ClaimJson("new"), "dump");
  objects.AddNew(ClaimJson("fast", {{"storageClassName", "fast"}}), "dump");
  objects.AddNew(ClaimJson("static", {{"storageClassName", ""}}), "dump");
  EXPECT_EQ(class_of("before"), "none");
  EXPECT_EQ(class_of("new"), "b");
  EXPECT_EQ(class_of("fast"), "fast");
  EXPECT_EQ(class_of("static"), "");
}

TEST(ObjectsTest, AddsMissingNamespaces) {
  Objects objects;
  Json pod = PodJson("target");
  pod["metadata"]["namespace"] = "system-upgrade";
  objects.Add(pod, "dump");
  EXPECT_THAT(Copied(objects, {"system-upgrade", "target"}),
              ::testing::Contains("Namespace /system-upgrade"));
}

// The values that nobody but the owner of a pod may read.
TEST(ObjectsTest, NothingConfidentialIsKept) {
  const Json secret = "marker";
  const Json container = {
      {"name", "c"},
      {"image", "i"},
      {"env", {{{"name", "X"}, {"value", secret}}}},
      {"envFrom", {{{"secretRef", {{"name", secret}}}}}},
      {"command", {secret}},
      {"args", {secret}},
      {"livenessProbe", {{"exec", {{"command", {secret}}}}}},
      {"lifecycle", {{"preStop", {{"exec", {{"command", {secret}}}}}}}}};
  const Json spec = {
      {"nodeName", "n"},
      {"containers", {container}},
      {"initContainers", {container}},
      {"ephemeralContainers", {container}},
      {"imagePullSecrets", {{{"name", secret}}}},
      {"volumes",
       {{{"name", "v"}, {"secret", {{"secretName", secret}}}},
        {{"name", "w"},
         {"csi", {{"driver", "d"}, {"volumeAttributes", {{"k", secret}}}}}}}}};
  const Json metadata = {{"name", "x"},
                         {"namespace", "a"},
                         {"annotations", {{"note", secret}}},
                         {"managedFields", {{{"manager", secret}}}}};
  Objects objects;
  for (const char* kind : {"Pod", "Node", "Service"}) {
    objects.Add({{"apiVersion", "v1"},
                 {"kind", kind},
                 {"metadata", metadata},
                 {"data", secret},
                 {"spec", spec},
                 {"status",
                  {{"conditions", {{{"type", "Ready"}, {"status", "True"}}}}}}},
                "dump");
  }
  for (const char* kind : {"ReplicaSet", "StatefulSet"}) {
    objects.Add({{"apiVersion", "apps/v1"},
                 {"kind", kind},
                 {"metadata", metadata},
                 {"spec", {{"template", {{"spec", spec}}}}}},
                "dump");
  }
  const Json device = {{"driver", "gpu.example.com"},
                       {"opaque", {{"parameters", secret}}}};
  objects.Add({{"apiVersion", "resource.k8s.io/v1"},
               {"kind", "ResourceClaim"},
               {"metadata", metadata},
               {"spec", {{"devices", {{"config", {device}}}}}},
               {"status",
                {{"allocation",
                  {{"devices",
                    {{"config", {device}},
                     {"results", {{{"driver", "gpu.example.com"}}}}}}}},
                 {"devices", {{{"device", "gpu-0"}, {"data", secret}}}}}}},
              "dump");
  const std::string text = CopiedText(objects, {"a", "x"});
  EXPECT_THAT(text, HasSubstr("ReplicaSet"));
  EXPECT_THAT(text, HasSubstr(R"("results":[{"driver":"gpu.example.com"}])"));
  EXPECT_THAT(text, HasSubstr("\"nodeName\":\"n\""));
  EXPECT_THAT(text, HasSubstr("\"driver\":\"d\""));
  EXPECT_THAT(text, Not(HasSubstr("marker")));
}

TEST(ObjectsTest, LabelsWithAnyNameAreKept) {
  Objects objects;
  objects.Add(
      PodJson("x", {{"metadata",
                     {{"labels", {{"env", "prod"}, {"command", "c"}}}}}}),
      "dump");
  EXPECT_THAT(CopiedText(objects, {"a", "x"}),
              HasSubstr(R"("labels":{"command":"c","env":"prod"})"));
}

TEST(ObjectsTest, OnlyConditionsThatSchedulersReadAreKept) {
  Objects objects;
  objects.Add(
      PodJson("x",
              {{"status",
                {{"conditions",
                  {{{"type", "PodScheduled"}, {"status", "False"}},
                   {{"type", "PodResizePending"}, {"reason", "Infeasible"}},
                   {{"type", "DisruptionTarget"}}}}}}}),
      "dump");
  const std::string text = CopiedText(objects, {"a", "x"});
  EXPECT_THAT(text, Not(HasSubstr("PodScheduled")));
  EXPECT_THAT(text, HasSubstr("DisruptionTarget"));
  EXPECT_THAT(text, HasSubstr(R"("reason":"Infeasible")"));
}

// The server fills in what pods lack that were never on a server.
TEST(ObjectsTest, PodsComeAfterTheirClasses) {
  Objects objects;
  objects.Add(PodJson("x"), "dump");
  objects.Add({{"apiVersion", "scheduling.k8s.io/v1"},
               {"kind", "PriorityClass"},
               {"metadata", {{"name", "high"}}}},
              "dump");
  EXPECT_EQ(Copied(objects, {"a", "x"}).back(), "Pod a/x");
}

TEST(ObjectsTest, ANewPodNeedsItsClasses) {
  const auto error_of = [](const Json& changes) -> std::string {
    Objects objects;
    objects.Add(PodJson("x", changes), "dump");
    try {
      objects.SelectFor({"a", "x"}, "");
    } catch (const CannotTell& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(error_of({{"spec", {{"priorityClassName", "high"}}}}),
            "can't tell: dump: the pod a/x was never on a server, and there is "
            "no PriorityClass high: add it to the dump");
  EXPECT_THAT(error_of({{"spec", {{"runtimeClassName", "kata"}}}}),
              HasSubstr("there is no RuntimeClass kata"));
  const Json named = {{"priorityClassName", "high"},
                      {"runtimeClassName", "kata"}};
  EXPECT_EQ(error_of({{"metadata", {{"uid", "u"}}}, {"spec", named}}), "");
  EXPECT_EQ(
      error_of({{"spec", {{"priorityClassName", "high"}, {"priority", 7}}}}),
      "");
  EXPECT_EQ(
      error_of({{"spec", {{"priorityClassName", "system-node-critical"}}}}),
      "");
}

TEST(ObjectsTest, MissingClassesOfOtherPodsAreCounted) {
  Objects objects;
  objects.Add(PodJson("x"), "dump");
  objects.Add(
      PodJson("y",
              {{"spec", {{"priorityClassName", "high"}, {"nodeName", "n"}}}}),
      "dump");
  EXPECT_THAT(objects.SelectFor({"a", "x"}, "").missing,
              UnorderedElementsAre("PriorityClass high"));
}

TEST(ObjectsTest, TheServerHasAllKeptKinds) {
  EXPECT_EQ(KeptKinds().size(), 21);
  EXPECT_THAT(KeptKinds(), Not(::testing::Contains(nullptr)));
}

}  // namespace
}  // namespace minisched::explain
