#include "lab/apiserver/registry.h"

#include <gmock/gmock.h>

#include "lab/apiserver/kinds/strategy_testing.h"

namespace minisched::apiserver {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;

constexpr char kModified[] =
    "409 Operation cannot be fulfilled on configmaps \"a\": the object has "
    "been modified; please apply your changes to the latest version and try "
    "again";

class RegistryTest : public StrategyTest {
 protected:
  static const ResourceRow& Row(const Json& object) {
    return *FindKind(GetString(object, "apiVersion"),
                     GetString(object, "kind"));
  }

  Json CreateConfigMap(const Json& change = Json::object()) {
    return Create(
        "v1", "ConfigMap",
        With(R"({"metadata": {"name": "a"}, "data": {"k": "v"}})"_json,
             change));
  }
  std::vector<std::string> CreateConfigMapErrors(const Json& change) {
    return Errors([&] { CreateConfigMap(change); });
  }

  // Creates a pod on a node, so that its deletion has a grace period.
  Json CreatePod(const Json& change = Json::object()) {
    return Create("v1", "Pod",
                  With(R"({
        "metadata": {"name": "p"},
        "spec": {"nodeName": "n", "terminationGracePeriodSeconds": 30,
                 "containers": [{"name": "c", "image": "i"}]}})"_json,
                       change));
  }

  Deleted Delete(const Json& object, const DeleteOptions& options = {}) {
    return registry_.Delete(Row(object), NamespaceOf(object), NameOf(object),
                            options);
  }
  std::vector<std::string> DeleteErrors(const Json& object,
                                        const DeleteOptions& options) {
    return Errors([&] { Delete(object, options); });
  }

  // Returns null if the object does not exist.
  Json Find(const Json& object) {
    const Object found = store_.Find(CollectionOf(Row(object)),
                                     {NamespaceOf(object), NameOf(object)});
    return found ? *found : Json();
  }

  std::string After(seconds delay) const {
    return FormatTime(loop_.Now() + delay);
  }
};

TEST_F(RegistryTest, CreateReplacesMetadataThatOnlyTheServerSets) {
  const Json object = CreateConfigMap(R"({"metadata": {
      "uid": "mine", "creationTimestamp": "2001-01-01T00:00:00Z",
      "deletionTimestamp": "2001-01-01T00:00:00Z",
      "deletionGracePeriodSeconds": 5, "generation": 7, "selfLink": "/x",
      "labels": {"a": "b"}}})"_json);
  const std::string uid = UidOf(object);
  EXPECT_THAT(uid, MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-"
                                "[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
  EXPECT_EQ(object["metadata"],
            Json({{"name", "a"},
                  {"namespace", "t"},
                  {"labels", {{"a", "b"}}},
                  {"uid", uid},
                  {"creationTimestamp", registry_.Now()},
                  {"resourceVersion", std::to_string(store_.version())}}));
  EXPECT_EQ(Find(object), object);
  EXPECT_NE(UidOf(CreateConfigMap({{"metadata", {{"name", "b"}}}})), uid);
}

TEST_F(RegistryTest, DifferentServersGenerateDifferentUids) {
  const auto first_uid = [&] {
    Store store;
    Registry registry(store, loop_);
    return UidOf(*registry.Create(GetResource("", "namespaces"), "",
                                  {{"metadata", {{"name", "x"}}}}));
  };
  EXPECT_NE(first_uid(), first_uid());
}

TEST_F(RegistryTest, CreateGeneratesNames) {
  const auto generated = [&](const std::string& base) {
    return NameOf(CreateConfigMap(
        {{"metadata", {{"name", nullptr}, {"generateName", base}}}}));
  };
  const std::string name = generated("web-");
  EXPECT_THAT(name, MatchesRegex("web-[bcdfghjklmnpqrstvwxz2456789]{5}"));
  EXPECT_NE(generated("web-"), name);
  EXPECT_EQ(generated(std::string(70, 'x')).size(), 63);
  EXPECT_EQ(NameOf(CreateConfigMap({{"metadata", {{"generateName", "b-"}}}})),
            "a");
}

TEST_F(RegistryTest, CreateRefusesAnExistingName) {
  const Json object =
      CreateConfigMap({{"metadata", {{"finalizers", {"x.y/z"}}}}});
  EXPECT_THAT(CreateConfigMapErrors(Json::object()),
              ElementsAre("409 configmaps \"a\" already exists"));
  Delete(object);
  EXPECT_THAT(CreateConfigMapErrors(Json::object()),
              ElementsAre("409 object is being deleted: configmaps \"a\" "
                          "already exists"));
  EXPECT_EQ(UidOf(Find(object)), UidOf(object));
}

TEST_F(RegistryTest, CreateRefusesAResourceVersion) {
  EXPECT_THAT(
      CreateConfigMapErrors({{"metadata", {{"resourceVersion", "1"}}}}),
      ElementsAre(
          "500 resourceVersion should not be set on objects to be created"));
}

TEST_F(RegistryTest, CreateFailsInAMissingOrTerminatingNamespace) {
  const auto create = [&](const std::string& ns) {
    return Errors([&] {
      registry_.Create(GetResource("", "configmaps"), ns,
                       {{"metadata", {{"name", "a"}}}});
    });
  };
  EXPECT_THAT(create("none"), ElementsAre("404 namespaces \"none\" not found"));
  Create("v1", "Namespace", {{"metadata", {{"name", "going"}}}});
  registry_.Delete(GetResource("", "namespaces"), "", "going");
  EXPECT_THAT(
      create("going"),
      ElementsAre("403 configmaps \"a\" is forbidden: unable to create new "
                  "content in namespace going because it is being terminated"));
}

TEST_F(RegistryTest, CreateRefusesInvalidMetadata) {
  EXPECT_THAT(CreateConfigMapErrors({{"metadata", {{"name", nullptr}}}}),
              ElementsAre("metadata.name: Required value: name or generateName "
                          "is required"));
}

TEST_F(RegistryTest, CreateAndUpdateRefuseTooLargeObjects) {
  const Json large = {{"data", {{"k", std::string(4 << 20, 'x')}}}};
  EXPECT_THAT(CreateConfigMapErrors(large),
              ElementsAre("413 Request entity too large: an object has at most "
                          "3145728 bytes"));
  const Json object = CreateConfigMap();
  EXPECT_THAT(UpdateErrors(object, large),
              ElementsAre("413 Request entity too large: an object has at most "
                          "3145728 bytes"));
  EXPECT_EQ(Find(object), object);
}

TEST_F(RegistryTest, CreateAsADryRunStoresNothing) {
  const auto version = store_.version();
  const ResourceRow& row = GetResource("", "configmaps");
  const Object object = registry_.Create(
      row, "t", {{"metadata", {{"name", "a"}}}}, /*dry_run=*/true);
  EXPECT_THAT(UidOf(*object), Not(IsEmpty()));
  EXPECT_EQ(Find(*object), Json());
  EXPECT_EQ(store_.version(), version);
  CreateConfigMap();
  EXPECT_THAT(Errors([&] {
                registry_.Create(row, "t", {{"metadata", {{"name", "a"}}}},
                                 /*dry_run=*/true);
              }),
              ElementsAre("409 configmaps \"a\" already exists"));
}

TEST_F(RegistryTest, UpdateStoresTheChange) {
  const Json object = CreateConfigMap();
  const Json updated = Update(object, R"({"data": {"k": "w"}})"_json);
  EXPECT_EQ(updated["data"]["k"], "w");
  EXPECT_EQ(updated["metadata"]["resourceVersion"],
            std::to_string(store_.version()));
  EXPECT_EQ(Find(object), updated);
}

TEST_F(RegistryTest, UpdateWithAnotherVersionIsAConflict) {
  const Json object = CreateConfigMap();
  const Json change = {
      {"data", {{"k", "w"}}},
      {"metadata",
       {{"resourceVersion", object["metadata"]["resourceVersion"]}}}};
  const Json updated = Update(object, change);
  EXPECT_THAT(UpdateErrors(object, change), ElementsAre(kModified));
  EXPECT_THAT(
      UpdateErrors(object, R"({"metadata": {"resourceVersion": "x"}})"_json),
      ElementsAre(kModified));
  EXPECT_EQ(Find(object), updated);
}

TEST_F(RegistryTest, OnlySomeKindsAllowUpdatesWithoutAVersion) {
  const Json change = R"({"metadata": {"resourceVersion": null},
                          "data": {"k": "w"}})"_json;
  EXPECT_THAT(UpdateErrors(CreateConfigMap(), change), IsEmpty());
  const Json lease = Create("coordination.k8s.io/v1", "Lease",
                            {{"metadata", {{"name", "a"}}}});
  EXPECT_THAT(
      UpdateErrors(lease, R"({"metadata": {"resourceVersion": null}})"_json),
      ElementsAre("metadata.resourceVersion: Invalid value: 0: must be "
                  "specified for an update"));
}

TEST_F(RegistryTest, UpdateKeepsSystemMetadata) {
  const Json object = CreatePod();
  EXPECT_EQ(Update(object, R"({"metadata": {
                "generation": 9, "selfLink": "/x", "uid": null,
                "creationTimestamp": "2001-01-01T00:00:00Z"}})"_json),
            object);
  EXPECT_THAT(UpdateErrors(object, R"({"metadata": {"uid": "x"}})"_json),
              ElementsAre("metadata.uid: Invalid value: \"x\": field is "
                          "immutable"));
  EXPECT_FALSE(Delete(object).gone);
  const Json terminating = Find(object);
  EXPECT_EQ(Update(object, R"({"metadata": {
                "deletionTimestamp": null,
                "deletionGracePeriodSeconds": null}})"_json),
            terminating);
}

TEST_F(RegistryTest, GenerationCountsChangesOfTheSpec) {
  const Json object = CreatePod();
  const auto generation = [&](const Json& change,
                              const std::string& subresource = "") {
    return Update(object, change, subresource)["metadata"]["generation"];
  };
  EXPECT_EQ(object["metadata"]["generation"], 1);
  EXPECT_EQ(generation(R"({"metadata": {"labels": {"a": "b"}}})"_json), 1);
  EXPECT_EQ(generation(R"({"status": {"reason": "r"}})"_json, "status"), 1);
  EXPECT_EQ(generation(R"({"spec": {"activeDeadlineSeconds": 5}})"_json), 2);
  EXPECT_EQ(CreateConfigMap()["metadata"].count("generation"), 0);
}

TEST_F(RegistryTest, UpdateThatChangesNothingWritesNothing) {
  const Json object = CreateConfigMap();
  const auto version = store_.version();
  EXPECT_EQ(Update(object, R"({"data": {"k": "v"}})"_json), object);
  EXPECT_EQ(store_.version(), version);
}

TEST_F(RegistryTest, UpdateAsADryRunStoresNothing) {
  const Json object = CreateConfigMap();
  const auto version = store_.version();
  const Object updated = registry_.Update(
      Row(object), "", "t", "a",
      [](const Json& old) { return With(old, R"({"data": {"k": "w"}})"_json); },
      /*dry_run=*/true);
  EXPECT_EQ((*updated)["data"]["k"], "w");
  EXPECT_EQ(Find(object), object);
  EXPECT_EQ(store_.version(), version);
}

TEST_F(RegistryTest, RemovingTheLastFinalizerDeletesTheObject) {
  const Json object =
      CreateConfigMap({{"metadata", {{"finalizers", {"x.y/a", "x.y/b"}}}}});
  const auto finalizers = [](const Json& list) -> Json {
    return {{"metadata", {{"finalizers", list}}}};
  };
  EXPECT_FALSE(Delete(object).gone);
  Update(object, finalizers({"x.y/b"}));
  EXPECT_FALSE(Find(object).is_null());
  const ResourceRow& row = Row(object);
  registry_.Update(
      row, "", "t", "a",
      [&](const Json& old) { return With(old, finalizers(nullptr)); },
      /*dry_run=*/true);
  EXPECT_FALSE(Find(object).is_null());
  Update(object, finalizers(nullptr));
  EXPECT_TRUE(Find(object).is_null());
}

// An object that isn't terminating stays, and so does one with grace time left.
TEST_F(RegistryTest, RemovingFinalizersKeepsObjectsThatAreNotDue) {
  const Json object =
      CreateConfigMap({{"metadata", {{"finalizers", {"x.y/a"}}}}});
  Update(object, R"({"metadata": {"finalizers": null}})"_json);
  EXPECT_FALSE(Find(object).is_null());
  const Json pod = CreatePod({{"metadata", {{"finalizers", {"x.y/a"}}}}});
  Delete(pod);
  Update(pod, R"({"metadata": {"finalizers": null}})"_json);
  EXPECT_FALSE(Find(pod).is_null());
}

TEST_F(RegistryTest, DeleteChecksItsPreconditions) {
  const Json object = CreateConfigMap();
  const std::string refused =
      "409 Operation cannot be fulfilled on ConfigMap \"a\": the ";
  EXPECT_THAT(
      DeleteErrors(object, {.preconditions = {.uid = "x"}}),
      ElementsAre(refused +
                  "UID in the precondition (x) does not match the "
                  "UID in record (" +
                  UidOf(object) +
                  "). The object might have been deleted and then recreated"));
  EXPECT_THAT(
      DeleteErrors(object, {.preconditions = {.resource_version = "1"}}),
      ElementsAre(refused +
                  "ResourceVersion in the precondition (1) does not "
                  "match the ResourceVersion in record (" +
                  GetString(object, "metadata", "resourceVersion") +
                  "). The object might have been modified"));
  EXPECT_EQ(Find(object), object);
  EXPECT_TRUE(Delete(object, {.preconditions = {UidOf(object),
                                                GetString(object, "metadata",
                                                          "resourceVersion")}})
                  .gone);
  EXPECT_TRUE(Find(object).is_null());
  EXPECT_THAT(DeleteErrors(object, {}),
              ElementsAre("404 configmaps \"a\" not found"));
}

TEST_F(RegistryTest, DeleteGivesAPodItsGracePeriod) {
  const Json pod = CreatePod();
  const Deleted deleted = Delete(pod);
  EXPECT_FALSE(deleted.gone);
  const Json& metadata = (*deleted.object)["metadata"];
  EXPECT_EQ(metadata["deletionTimestamp"], After(seconds(30)));
  EXPECT_EQ(metadata["deletionGracePeriodSeconds"], 30);
  EXPECT_EQ(metadata["generation"], 2);
  EXPECT_EQ(Find(pod), *deleted.object);
}

TEST_F(RegistryTest, AGracePeriodCanOnlyBeShortened) {
  const Json pod = CreatePod();
  const std::string start = After(seconds(30));
  Delete(pod);
  loop_.Advance(seconds(10));
  const auto delete_with_grace = [&](std::int64_t grace) {
    Delete(pod, {.grace_period = grace});
    const Json metadata = Find(pod)["metadata"];
    return std::pair(metadata["deletionGracePeriodSeconds"].get<int>(),
                     metadata["deletionTimestamp"].get<std::string>());
  };
  EXPECT_EQ(delete_with_grace(60), std::pair(30, start));
  EXPECT_EQ(delete_with_grace(25), std::pair(25, After(seconds(15))));
  // A period of 5 s has already passed, so the pod is due now.
  EXPECT_EQ(delete_with_grace(5), std::pair(1, After(seconds(0))));
  EXPECT_TRUE(Delete(pod, {.grace_period = 0}).gone);
  EXPECT_TRUE(Find(pod).is_null());
}

TEST_F(RegistryTest, DeleteWithoutGracePeriodRemovesAtOnce) {
  const Json pod = CreatePod();
  std::vector<Event::Type> events;
  const auto subscription =
      store_.Subscribe("pods", [&](const std::string&, const Event& event) {
        events.push_back(event.type);
        EXPECT_TRUE(IsTerminating(*event.object));
      });
  EXPECT_TRUE(Delete(pod, {.grace_period = 0}).gone);
  EXPECT_TRUE(Find(pod).is_null());
  EXPECT_THAT(events,
              ElementsAre(Event::Type::kModified, Event::Type::kDeleted));
}

TEST_F(RegistryTest, FinalizersDelayADelete) {
  const Json object =
      CreateConfigMap({{"metadata", {{"finalizers", {"x.y/a"}}}}});
  const Deleted deleted = Delete(object);
  EXPECT_FALSE(deleted.gone);
  const Json terminating = Find(object);
  EXPECT_EQ(terminating["metadata"]["deletionTimestamp"], registry_.Now());
  EXPECT_EQ(terminating["metadata"]["deletionGracePeriodSeconds"], 0);
  // A second delete changes nothing.
  loop_.Advance(seconds(10));
  EXPECT_FALSE(Delete(object).gone);
  EXPECT_EQ(Find(object), terminating);
}

TEST_F(RegistryTest, PropagationPolicySetsAFinalizer) {
  const Json object =
      CreateConfigMap({{"metadata", {{"finalizers", {"x.y/a"}}}}});
  const auto finalizers = [&](const std::string& propagation) {
    Delete(object, {.propagation = propagation});
    return Find(object)["metadata"]["finalizers"]
        .get<std::vector<std::string>>();
  };
  EXPECT_THAT(finalizers("Foreground"),
              ElementsAre("x.y/a", "foregroundDeletion"));
  EXPECT_THAT(finalizers(""), ElementsAre("x.y/a", "foregroundDeletion"));
  EXPECT_THAT(finalizers("Orphan"), ElementsAre("x.y/a", "orphan"));
  EXPECT_THAT(finalizers("Background"), ElementsAre("x.y/a"));
}

TEST_F(RegistryTest, DeleteAsADryRunChangesNothing) {
  const Json object = CreateConfigMap();
  const Json pod = CreatePod();
  const auto version = store_.version();
  EXPECT_TRUE(Delete(object, {.dry_run = true}).gone);
  const Deleted deleted = Delete(pod, {.dry_run = true});
  EXPECT_FALSE(deleted.gone);
  EXPECT_TRUE(IsTerminating(*deleted.object));
  EXPECT_EQ(Find(object), object);
  EXPECT_EQ(Find(pod), pod);
  EXPECT_EQ(store_.version(), version);
}

}  // namespace
}  // namespace minisched::apiserver
