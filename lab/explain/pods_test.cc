#include "lab/explain/pods.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "lab/explain/errors.h"

namespace minisched::explain {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Json = nlohmann::json;

class PodsTest : public ::testing::Test {
 protected:
  void Add(const std::string& ns, const std::string& name,
           const Json& spec = Json::object()) {
    objects_.Add({{"apiVersion", "v1"},
                  {"kind", "Pod"},
                  {"metadata", {{"name", name}, {"namespace", ns}}},
                  {"spec", spec}},
                 "dump");
  }

  std::string ErrorOf(const std::string& name, const std::string& ns) {
    try {
      FindPod(objects_, name, ns);
    } catch (const CannotTell& error) {
      return error.what();
    }
    return "no error";
  }

  std::vector<std::string> Warnings(const NamespacedName& target) {
    std::vector<std::string> warnings;
    AddWarnings(objects_, objects_.SelectFor(target, ""), warnings);
    return warnings;
  }

  Objects objects_;
};

TEST_F(PodsTest, FindsAPodInAnyNamespace) {
  Add("a", "web");
  Add("b", "db");
  EXPECT_EQ(FindPod(objects_, "db", ""), (NamespacedName{"b", "db"}));
  EXPECT_THROW(FindPod(objects_, "db", "a"), CannotTell);
}

TEST(PodNameTest, MayHaveItsNamespace) {
  EXPECT_EQ(ParsePodName("web", ""), (NamespacedName{"", "web"}));
  EXPECT_EQ(ParsePodName("web", "a"), (NamespacedName{"a", "web"}));
  EXPECT_EQ(ParsePodName("a/web", ""), (NamespacedName{"a", "web"}));
  EXPECT_EQ(ParsePodName("a/web", "a"), (NamespacedName{"a", "web"}));
  EXPECT_THROW(ParsePodName("a/web", "b"), CannotTell);
}

TEST_F(PodsTest, ErrorsSayWhatToDo) {
  Add("a", "web");
  Add("b", "web");
  Add("b", "web-7d4");
  Add("c", "db");
  EXPECT_EQ(ErrorOf("web", ""),
            "several namespaces have a pod web: pass one of them with -n: a, "
            "b");
  EXPECT_EQ(ErrorOf("web-7d5", ""),
            "there is no pod web-7d5; the nearest name is b/web-7d4");
  EXPECT_EQ(ErrorOf("web-7d4", "a"),
            "there is no pod web-7d4 in the namespace a; the nearest name is "
            "b/web-7d4");
  EXPECT_EQ(ErrorOf("eb-7d4", ""),
            "there is no pod eb-7d4; the nearest name is b/web-7d4");
  EXPECT_EQ(ErrorOf("d", ""), "there is no pod d; the nearest name is c/db");
  EXPECT_EQ(ErrorOf("dns", ""), "there is no pod dns");
  EXPECT_EQ(ErrorOf("x", ""), "there is no pod x");
}

TEST_F(PodsTest, PodsThatNoSchedulerTakesNeedNoScheduler) {
  for (const char* node : {"n", "node-12"}) {
    objects_.Add({{"apiVersion", "v1"},
                  {"kind", "Node"},
                  {"metadata", {{"name", node}}}},
                 "dump");
  }
  const auto answer = [&](const PodFacts& facts, bool has_command = false) {
    return AnswerWithoutScheduler(objects_, {"a", "web"}, facts, has_command);
  };
  const PodFacts pending{.scheduler = "default-scheduler"};
  EXPECT_FALSE(answer(pending));
  EXPECT_FALSE(answer({.scheduler = "minisched"}));
  EXPECT_EQ(answer({.node = "n"})->sentence, "a/web is bound to n");
  EXPECT_EQ(ExitCode(*answer({.node = "n"})), 0);
  EXPECT_EQ(answer({.node = "x"})->sentence,
            "a/web has spec.nodeName x, but there is no node x. No scheduler "
            "takes it, and no kubelet runs it: create it again without "
            "spec.nodeName");
  EXPECT_EQ(ExitCode(*answer({.node = "x"})), 1);
  EXPECT_THAT(answer({.node = "Node-12"})->sentence,
              HasSubstr("no node Node-12 (did you mean node-12?)."));
  EXPECT_EQ(answer({.node = "n", .phase = "Succeeded"})->sentence,
            "a/web has ended (Succeeded): no scheduler takes it");
  EXPECT_EQ(answer({.is_terminating = true})->state, State::kDeleted);
  EXPECT_EQ(answer({.scheduler = "volcano"})->sentence,
            "a/web is for the scheduler \"volcano\": pass its command with "
            "--scheduler");
  EXPECT_EQ(ExitCode(*answer({.scheduler = "volcano"})), 2);
  EXPECT_FALSE(answer({.scheduler = "volcano"}, /*has_command=*/true));
}

TEST_F(PodsTest, WarnsAboutNominatedPods) {
  Add("a", "web");
  EXPECT_THAT(Warnings({"a", "web"}), IsEmpty());
  objects_.Add({{"apiVersion", "v1"},
                {"kind", "Pod"},
                {"metadata", {{"name", "x"}}},
                {"status", {{"nominatedNodeName", "n"}}}},
               "dump");
  EXPECT_THAT(Warnings({"a", "web"}),
              ElementsAre(HasSubstr(
                  "pending pods with a nominated node are left out: 1.")));
}

TEST_F(PodsTest, CountsCopiedPodsWithAntiAffinity) {
  const Json term = {{"topologyKey", "kubernetes.io/hostname"}};
  const Json spec = {
      {"nodeName", "n"},
      {"affinity",
       {{"podAntiAffinity",
         {{"requiredDuringSchedulingIgnoredDuringExecution", {term}}}}}}};
  Add("a", "web", spec);
  EXPECT_EQ(objects_.SelectFor({"a", "web"}, "").anti_affine, 0);
  Add("a", "other", spec);
  EXPECT_EQ(objects_.SelectFor({"a", "web"}, "").anti_affine, 1);
}

}  // namespace
}  // namespace minisched::explain
