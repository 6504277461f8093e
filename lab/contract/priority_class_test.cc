// Priority classes, and the priorities that pods get from them.

#include "lab/contract/contract_testing.h"

namespace minisched {
namespace {

class PriorityClassTest : public ContractTest {
 protected:
  // Creates a class that is deleted after the test, and returns its name.
  std::string CreateClass(const json& change) {
    std::string name = Unique("pc");
    Create("priorityclasses", Named(name, change));
    DeleteLater("priorityclasses/" + name);
    // The real server's admission plugin reads classes from a cache, which may
    // be stale.
    Await("admission to find the class", [&] {
      return TryPod({{"priorityClassName", name}}).status == 201;
    });
    return name;
  }

  Reply TryPod(const json& spec) {
    return Post("pods?dryRun=All", Pod("p", {{"spec", spec}}));
  }

  Reply TryClass(const json& change) {
    return Post("priorityclasses?dryRun=All", Named("contract-c", change));
  }
};

TEST_F(PriorityClassTest, CreatesAClassWithDefaults) {
  const Reply reply = TryClass(json::object());
  EXPECT_THAT(reply, Answers(201, R"({
    "kind": "PriorityClass", "apiVersion": "scheduling.k8s.io/v1",
    "metadata": {"namespace": null, "generation": 1}, "value": 0,
    "preemptionPolicy": "PreemptLowerPriority",
    "globalDefault": null})"_json));
}

TEST_F(PriorityClassTest, GivesPodsTheirPriority) {
  const std::string name =
      CreateClass({{"value", 1000}, {"preemptionPolicy", "Never"}});
  EXPECT_THAT(TryPod({{"priorityClassName", name}}),
              Answers(201, {{"spec",
                             {{"priority", 1000},
                              {"preemptionPolicy", "Never"},
                              {"priorityClassName", name}}}}));
  EXPECT_THAT(TryPod({{"priorityClassName", name}, {"priority", 1000}}),
              Answers(201));
  EXPECT_THAT(
      TryPod({{"priorityClassName", name}, {"priority", 5}}),
      Refuses(403, "Forbidden",
              "pods \"p\" is forbidden: the integer value of priority (5) must "
              "not be provided in pod spec; priority admission controller "
              "computed 1000 from the given PriorityClass name"));
}

TEST_F(PriorityClassTest, SystemClassesExistAndCannotBeDeleted) {
  const auto priority = [](int value) {
    return Answers(201, {{"spec", {{"priority", value}}}});
  };
  EXPECT_THAT(TryPod({{"priorityClassName", "system-node-critical"}}),
              priority(2000001000));
  EXPECT_THAT(TryPod({{"priorityClassName", "system-cluster-critical"}}),
              priority(2000000000));
  EXPECT_THAT(Get("priorityclasses/system-node-critical"),
              Answers(200, R"({"value": 2000001000})"_json));
  EXPECT_THAT(Delete("priorityclasses/system-node-critical?dryRun=All"),
              Refuses(403, "Forbidden",
                      "priorityclasses.scheduling.k8s.io "
                      "\"system-node-critical\" is forbidden: this is a system "
                      "priority class and cannot be deleted"));
}

TEST_F(PriorityClassTest, RejectsChangesOfValueAndPolicy) {
  const std::string name = CreateClass({{"value", 7}});
  const std::string path = "priorityclasses/" + name;
  EXPECT_THAT(MergePatch(path, {{"value", 5}}),
              Invalid("PriorityClass.scheduling.k8s.io", name,
                      {"value: Forbidden: may not be changed in an update."}));
  EXPECT_THAT(MergePatch(path, {{"preemptionPolicy", "Never"}}),
              Invalid("PriorityClass.scheduling.k8s.io", name,
                      {"preemptionPolicy: Invalid value: \"Never\": field is "
                       "immutable"}));
  EXPECT_THAT(MergePatch(path, {{"description", "x"}}),
              Answers(200, R"({"description": "x"})"_json));
}

TEST_F(PriorityClassTest, RejectsInvalidClasses) {
  const auto invalid = [](const std::string& error) {
    return Invalid("PriorityClass.scheduling.k8s.io", "contract-c", {error});
  };
  EXPECT_THAT(TryClass({{"value", 1000000001}}),
              invalid("value: Forbidden: maximum allowed value of a user "
                      "defined priority is 1000000000"));
  EXPECT_THAT(TryClass({{"preemptionPolicy", "X"}}),
              invalid("preemptionPolicy: Unsupported value: \"X\": supported "
                      "values: \"PreemptLowerPriority\", \"Never\""));
  EXPECT_THAT(TryClass({{"value", -5}}), Answers(201));
  EXPECT_THAT(
      Post("priorityclasses", Named("system-x")),
      Invalid("PriorityClass.scheduling.k8s.io", "system-x",
              {"metadata.name: Forbidden: priority class names with 'system-' "
               "prefix are reserved for system use only. error: system-x is "
               "not a known system priority class"}));
}

TEST_F(PriorityClassTest, TheGlobalDefaultAppliesToPodsWithoutAClass) {
  const std::string name = CreateClass({{"value", 7}, {"globalDefault", true}});
  EXPECT_THAT(
      TryPod(json::object()),
      Answers(201, {{"spec", {{"priority", 7}, {"priorityClassName", name}}}}));
}

}  // namespace
}  // namespace minisched
