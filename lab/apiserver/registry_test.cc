#include "lab/apiserver/registry.h"

#include <gmock/gmock.h>

#include "lab/apiserver/kinds/strategy_testing.h"

namespace minisched::apiserver {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;

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

TEST_F(RegistryTest, DifferentServersGenerateDifferentUids) {
  const auto first_uid = [&] {
    Store store;
    Registry registry(store, loop_);
    return UidOf(*registry.Create(GetResource("", "namespaces"), "",
                                  {{"metadata", {{"name", "x"}}}}));
  };
  EXPECT_NE(first_uid(), first_uid());
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

}  // namespace
}  // namespace minisched::apiserver
