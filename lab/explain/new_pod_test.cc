#include "lab/explain/new_pod.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "lab/explain/errors.h"
#include "lab/scenario/files_testing.h"
#include "minisched/client/errors.h"

namespace minisched::explain {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

using Json = nlohmann::json;

class NewPodTest : public ::testing::Test {
 protected:
  NewPod Read(const std::string& text, const std::string& ns = "",
              const std::string& selected = "") {
    return ReadNewPod(directory_.Write("new.yaml", text), selected, ns, {});
  }
  std::string ErrorOf(const std::string& text, const std::string& selected) {
    try {
      Read(text, "", selected);
    } catch (const CannotTell& error) {
      const std::string what = error.what();
      return what.substr(what.find("yaml: ") + 6);
    }
    return "no error";
  }
  const scenario::TestDirectory directory_;
};

TEST_F(NewPodTest, ReadsAPodOrATemplate) {
  const NewPod pod = Read(
      "{kind: Pod, metadata: {name: a, namespace: b}, spec: {containers: "
      "[{name: "
      "c, env: [{name: marker}]}]}}");
  EXPECT_EQ(pod.name, (NamespacedName{"b", "a"}));
  const auto& create = std::get<scenario::Create>(pod.step.action);
  EXPECT_THAT(create.objects[0].json, Not(HasSubstr("marker")));
  const NewPod job = Read(
      "{kind: Service}\n---\n{kind: CronJob, metadata: {name: j}, spec: "
      "{jobTemplate: {spec: {template: {metadata: {labels: {x: z}}, spec: "
      "{containers: []}}}}}}",
      "ns");
  EXPECT_EQ(job.name, (NamespacedName{"ns", "j"}));
  EXPECT_THAT(std::get<scenario::Create>(job.step.action).objects[0].json,
              HasSubstr(R"("labels":{"x":"z"})"));
}

TEST_F(NewPodTest, APodOfAStatefulSetHasItsClaims) {
  const NewPod pod = Read(
      "{kind: StatefulSet, metadata: {name: db}, spec: {template: {spec: "
      "{volumes: [{name: x}, {name: data, emptyDir: {}}]}}, "
      "volumeClaimTemplates: [{metadata: {name: data}, spec: "
      "{storageClassName: fast}}]}}",
      "ns");
  const auto& create = std::get<scenario::Create>(pod.step.action);
  EXPECT_THAT(
      create.objects[0].json,
      HasSubstr(R"("volumes":[{"name":"x"},{"name":"data",)"
                R"("persistentVolumeClaim":{"claimName":"data-db-0"}}])"));
  EXPECT_THAT(pod.others,
              ElementsAre(Json(
                  {{"apiVersion", "v1"},
                   {"kind", "PersistentVolumeClaim"},
                   {"metadata", {{"name", "data-db-0"}, {"namespace", "ns"}}},
                   {"spec", {{"storageClassName", "fast"}}}})));
}

TEST_F(NewPodTest, TheFirstPodOfAStatefulSetMayHaveAnotherOrdinal) {
  const NewPod pod = Read(
      "{kind: StatefulSet, metadata: {name: db}, spec: {ordinals: {start: 3}, "
      "template: {spec: {}}, volumeClaimTemplates: [{metadata: {name: "
      "data}}]}}");
  const auto& create = std::get<scenario::Create>(pod.step.action);
  EXPECT_THAT(create.objects[0].json, HasSubstr(R"("claimName":"data-db-3")"));
  ASSERT_EQ(pod.others.size(), 1);
  EXPECT_EQ(pod.others[0]["metadata"]["name"], "data-db-3");
}

constexpr char kSeveral[] = R"(
{apiVersion: v1, kind: List, items: [
  {apiVersion: apps/v1, kind: Deployment, metadata: {name: web},
   spec: {template: {spec: {}}}}]}
---
{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: web},
 spec: {template: {spec: {}}}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: data}}
---
{apiVersion: batch/v1, kind: CronJob, metadata: {name: nightly},
 spec: {jobTemplate: {spec: {template: {spec: {}}}}}}
)";

TEST_F(NewPodTest, OneOfSeveralWorkloadsIsSelected) {
  for (const char* name : {"Deployment/web", "deployment/web", "deploy/web",
                           "deployments/web", "deployments.apps/web"}) {
    EXPECT_FALSE(Read(kSeveral, "", name).is_of_daemon_set) << name;
  }
  EXPECT_TRUE(Read(kSeveral, "", "ds/web").is_of_daemon_set);
  EXPECT_EQ(Read(kSeveral, "", "nightly").name.name, "nightly");
  EXPECT_EQ(Read(kSeveral, "", "cronjobs/nightly").name.name, "nightly");
}

TEST_F(NewPodTest, ErrorsListTheWorkloads) {
  const std::string list = "Deployment/web, DaemonSet/web, CronJob/nightly";
  for (const char* name : {"", "web"}) {
    EXPECT_EQ(ErrorOf(kSeveral, name),
              "it has several pods or workloads: pass one of these: " + list);
  }
  EXPECT_EQ(ErrorOf(kSeveral, "statefulset/web"),
            "it has no statefulset/web: pass one of these: " + list);
  EXPECT_EQ(ErrorOf("{kind: Service}", "web"), "it has no pod and no workload");
}

TEST_F(NewPodTest, OtherObjectsOfTheFileCount) {
  const NewPod pod = Read(kSeveral, "ns", "nightly");
  EXPECT_THAT(pod.others,
              ElementsAre(Json(
                  {{"apiVersion", "v1"},
                   {"kind", "PersistentVolumeClaim"},
                   {"metadata", {{"name", "data"}, {"namespace", "ns"}}}})));
}

TEST_F(NewPodTest, APodOfADaemonSetHasTheTolerationsOfItsController) {
  const NewPod pod = Read(kSeveral, "", "daemonset/web");
  const Json json =
      Json::parse(std::get<scenario::Create>(pod.step.action).objects[0].json);
  EXPECT_EQ(json["spec"]["tolerations"].size(), 6);
}

TEST_F(NewPodTest, NeedsExactlyOnePod) {
  EXPECT_THROW(Read("{kind: Service}"), CannotTell);
  EXPECT_THROW(Read("{kind: Pod, metadata: {name: a}}\n---\n{kind: Pod}"),
               CannotTell);
  EXPECT_THROW(Read("a: [b"), CannotTell);
  EXPECT_THROW(Read("{kind: Pod, metadata: 3}"), CannotTell);
  EXPECT_THROW(ReadNewPod("/none", "", "", {}), ConfigError);
}

}  // namespace
}  // namespace minisched::explain
