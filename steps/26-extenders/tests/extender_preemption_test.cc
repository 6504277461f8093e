// Tests the calls of extenders in preemption.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/extender_cycle_testing.h"
#include "tests/snapshot_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// The candidates of upstream's tests: pods 1 and 3 on node1, and pods 2 and 4
// on node2.
class ProcessPreemptionTest : public ExtenderTest {
 protected:
  ProcessPreemptionTest() {
    std::vector<std::shared_ptr<const Pod>> pods;
    for (const int number : {1, 2, 3, 4}) {
      Pod pod;
      pod.metadata.name = fmt::format("pod{}", number);
      pod.metadata.uid = fmt::format("uid{}", number);
      Pod assumed = *Whole(pod);
      assumed.spec.node_name = number % 2 == 1 ? "node1" : "node2";
      pods.push_back(std::make_shared<const Pod>(assumed));
    }
    std::vector<std::shared_ptr<const Node>> nodes;
    for (const char* name : {"node1", "node2"}) {
      nodes.push_back(std::make_shared<const Node>(NewNodeOf(name, 4)));
    }
    snapshot_ = NewSnapshot(nodes, pods);
    candidates_ = {{.node_name = "node1",
                    .victims = {pods[0], pods[2]},
                    .pdb_violations = 1},
                   {.node_name = "node2",
                    .victims = {pods[1], pods[3]},
                    .pdb_violations = 2}};
  }

  // Returns the candidates that are left: "node1(1): pod1 pod3, …"; or the
  // error.
  std::string Process(const std::string& answer, bool cache = true) {
    fake_.Answers("preempt", answer);
    const Extender extender(
        fake_.With({.preempt_verb = "preempt", .node_cache_capable = cache}),
        {});
    const auto left = extender.ProcessPreemption(pod_, candidates_, snapshot_);
    if (!left) return ErrorOf(left.error());
    std::string text;
    for (const Candidate& candidate : *left) {
      text += fmt::format("{}{}({}): {}", text.empty() ? "" : ", ",
                          candidate.node_name, candidate.pdb_violations,
                          NamesOfVictims(candidate));
    }
    return text;
  }

  Snapshot snapshot_;
  std::vector<Candidate> candidates_;
};

// Upstream's TestConvertToMetaVictims.
TEST_F(ProcessPreemptionTest, AnExtenderWithACacheGetsMetaVictims) {
  Process("{}");
  ASSERT_EQ(fake_.calls().size(), 1);
  EXPECT_EQ(fake_.calls()[0].method, "POST");
  EXPECT_EQ(fake_.calls()[0].target, "/preempt");
  EXPECT_EQ(
      fake_.calls()[0].body,
      R"({"Pod":{"metadata":{"name":"web","namespace":"shop","uid":"u1"}},)"
      R"("NodeNameToMetaVictims":{)"
      R"("node1":{"NumPDBViolations":1,"Pods":[{"UID":"uid1"},{"UID":"uid3"}]})"
      R"(,)"
      R"("node2":{"NumPDBViolations":2,"Pods":[{"UID":"uid2"},{"UID":"uid4"}]})"
      R"(}})");
}

// The server doesn't know yet on which node an assumed pod is.
TEST_F(ProcessPreemptionTest, OtherExtendersGetWholeVictimsWithTheirNode) {
  candidates_.pop_back();
  Process("{}", /*cache=*/false);
  ASSERT_EQ(fake_.calls().size(), 1);
  EXPECT_EQ(
      fake_.calls()[0].body,
      R"({"Pod":{"metadata":{"name":"web","namespace":"shop","uid":"u1"}},)"
      R"("NodeNameToVictims":{"node1":{"NumPDBViolations":1,"Pods":[)"
      R"({"metadata":{"name":"pod1","uid":"uid1"},"spec":{"nodeName":"node1"}},)"
      R"({"metadata":{"name":"pod3","uid":"uid3"},"spec":{"nodeName":"node1"}})"
      R"(]}}})");
}

// Upstream's TestConvertToVictims.
TEST_F(ProcessPreemptionTest, FindsThePodsOfMetaVictims) {
  const std::string answer =
      R"({"NodeNameToMetaVictims":{)"
      R"("node2":{"Pods":[{"UID":"uid2"},{"UID":"uid4"}],)"
      R"("NumPDBViolations":2},)"
      R"("node1":{"Pods":[{"UID":"uid1"},{"UID":"uid3"}],)"
      R"("NumPDBViolations":1}}})";
  const std::string all = "node1(1): pod1 pod3, node2(2): pod2 pod4";
  EXPECT_EQ(Process(answer), all);
  EXPECT_EQ(Process(answer, /*cache=*/false), all);
}

TEST_F(ProcessPreemptionTest, AnExtenderChoosesNodesAndVictims) {
  EXPECT_EQ(Process(R"({"NodeNameToMetaVictims":{"node2":{"Pods":)"
                    R"([{"UID":"uid4"}]}}})"),
            "node2(0): pod4");
  EXPECT_EQ(Process(R"({"NodeNameToMetaVictims":{"node1":{"Pods":[]}}})"),
            "node1(0): ");
  EXPECT_EQ(Process("{}"), "");
  EXPECT_EQ(Process("null"), "");
}

// The most important victim decides between nodes.
TEST_F(ProcessPreemptionTest, VictimsAreInTheOrderOfTheirImportance) {
  Pod important = NewPodOf("important", {.priority = 5, .node = "node1"});
  Pod other = NewPodOf("other", {.node = "node1"});
  snapshot_ = NewSnapshot({std::make_shared<const Node>(NewNodeOf("node1", 4))},
                          {Whole(important), Whole(other)});
  candidates_ = {{.node_name = "node1", .victims = {Whole(other)}}};
  EXPECT_EQ(Process(R"({"NodeNameToMetaVictims":{"node1":{"Pods":)"
                    R"([{"UID":"other"},{"UID":"important"}]}}})"),
            "node1(0): important other");
}

TEST_F(ProcessPreemptionTest, Fails) {
  const auto with = [](const std::string& node, const std::string& uid) {
    return fmt::format(
        R"({{"NodeNameToMetaVictims":{{"{}":{{"Pods":[{{"UID":"{}"}}]}}}}}})",
        node, uid);
  };
  EXPECT_EQ(Process(with("node1", "uid2")),
            "Error: extender \"URL\" claims to preempt pod (UID: uid2) on "
            "node: node1, but the pod is not found on that node");
  EXPECT_EQ(Process(with("node3", "uid1")),
            "Error: extender \"URL\" claims to preempt pods on node \"node3\" "
            "which is not found in the input node list");
  candidates_.pop_back();  // node2 is in the snapshot only
  EXPECT_THAT(Process(with("node2", "uid2")), HasSubstr("\"node2\" which"));
  EXPECT_THAT(Process("[]"), StartsWith("Error: extender \"URL\" gives a wrong "
                                        "answer to preempt: "));
}

// A scheduler whose nodes are full of pods.
class ExtenderPreemptionTest : public ExtenderCycleTest {
 protected:
  ExtenderPreemptionTest() {
    AddNodes({"node1", "node2"});
    cluster_.Add(urgent_);
    for (const auto& [name, node] :
         {std::pair("a", "node1"), {"b", "node1"}, {"c", "node2"}}) {
      cluster_.Add(NewPodOf(name, {.cpu = 2, .node = node}));
    }
    cluster_.Add(NewPodOf("d", {.priority = 1, .cpu = 2, .node = "node2"}));
  }

  static ExtenderConfig Preempts(const FakeExtender& fake,
                                 bool ignorable = false) {
    return fake.With({.preempt_verb = "preempt",
                      .node_cache_capable = true,
                      .ignorable = ignorable});
  }
  // Makes an extender choose this victim on a node.
  static void Choose(FakeExtender& fake, const std::string& node,
                     const std::string& uid) {
    fake.Answers("preempt",
                 fmt::format(R"({{"NodeNameToMetaVictims":{{"{}":{{"Pods":)"
                             R"([{{"UID":"{}"}}]}}}}}})",
                             node, uid));
  }

  // Returns the evicted pods, of which there must be `count`.
  std::vector<std::string> Evicted(std::size_t count) {
    std::vector<std::string> names;
    // An eviction is a PATCH and a DELETE.
    for (const auto& write : cluster_.AwaitWrites(2 * count)) {
      if (write.method != "DELETE") continue;
      const std::string path = write.target.substr(0, write.target.find('?'));
      names.push_back(path.substr(path.rfind('/') + 1));
    }
    return names;
  }
  // Returns the message of preemption.
  std::string PreemptionMessage() {
    const std::string message = FailureFor(urgent_);
    return message.substr(
        std::min(message.find(" preemption: "), message.size()));
  }

  const Pod urgent_ = NewPodOf("urgent", {.priority = 9, .cpu = 2});
  FakeExtender one_;
  FakeExtender two_;
};

TEST_F(ExtenderPreemptionTest, TheExtenderChoosesTheVictim) {
  Choose(one_, "node2", "d");
  Start({Preempts(one_)});
  EXPECT_THAT(PreemptionMessage(), HasSubstr("on node node2"));
  EXPECT_THAT(Evicted(1), ElementsAre("d"));
}

TEST_F(ExtenderPreemptionTest, TheNextExtenderGetsWhatTheFirstHasLeft) {
  Choose(one_, "node2", "d");
  two_.Answers("preempt", "{}");
  Start({Preempts(one_), Preempts(two_)});
  EXPECT_EQ(PreemptionMessage(),
            " preemption: no candidate node for preemption");
  EXPECT_THAT(two_.calls().at(0).body,
              HasSubstr(R"("NodeNameToMetaVictims":{"node2":)"
                        R"({"NumPDBViolations":0,"Pods":[{"UID":"d"}]}})"));
  EXPECT_THAT(Evicted(0), IsEmpty());
}

TEST_F(ExtenderPreemptionTest, NoExtenderIsAskedAboutNoCandidates) {
  one_.Answers("preempt", "{}");
  Start({Preempts(one_), Preempts(two_)});
  EXPECT_EQ(PreemptionMessage(),
            " preemption: no candidate node for preemption");
  EXPECT_THAT(two_.calls(), IsEmpty());
}

TEST_F(ExtenderPreemptionTest, OnlyInterestedExtendersThatPreemptAreAsked) {
  ExtenderConfig not_interested = Preempts(one_);
  not_interested.managed_resources = {{.name = "example.com/device"}};
  Start({not_interested, two_.With({.bind_verb = "bind"})});
  PreemptionMessage();
  EXPECT_THAT(Evicted(1), testing::SizeIs(1));
  EXPECT_THAT(one_.calls(), IsEmpty());
  EXPECT_THAT(two_.calls(), IsEmpty());
}

TEST_F(ExtenderPreemptionTest, AnExtenderThatFailsEndsThePreemption) {
  one_.Answers("preempt", "", 500);
  Start({Preempts(one_)});
  EXPECT_EQ(PreemptionMessage(),
            " preemption: failed preempt with extender at URL " + one_.url() +
                "/preempt, code 500");
  EXPECT_THAT(Evicted(0), IsEmpty());
}

TEST_F(ExtenderPreemptionTest, AnIgnorableExtenderThatFailsIsSkipped) {
  one_.Answers("preempt", "", 500);
  Choose(two_, "node2", "d");
  Start({Preempts(one_, /*ignorable=*/true), Preempts(two_)});
  PreemptionMessage();
  EXPECT_THAT(Evicted(1), ElementsAre("d"));
}

TEST_F(ExtenderPreemptionTest, ANodeNeedsVictims) {
  const std::string answer = R"({"NodeNameToMetaVictims":{"node1":{"Pods":[]},)"
                             R"("node2":{"Pods":[{"UID":"d"}]}}})";
  one_.Answers("preempt", answer);
  Start({Preempts(one_)});
  EXPECT_EQ(PreemptionMessage(),
            " preemption: expected at least one victim pod on node \"node1\"");
  EXPECT_THAT(Evicted(0), IsEmpty());
  Start({Preempts(one_, /*ignorable=*/true)});
  PreemptionMessage();
  EXPECT_THAT(Evicted(1), ElementsAre("d"));
}

// Preemption runs only the plugins. On a node that only an extender rejects,
// they find no victim. This is an error, as upstream.
TEST_F(ExtenderPreemptionTest, PreemptionOnlyTriesNodesThatCanBeResolved) {
  one_.Answers("filter",
               R"({"FailedAndUnresolvableNodes":{"node1":"no licence"},)"
               R"("FailedNodes":{"node2":"hot"}})");
  ExtenderConfig config = Preempts(one_);
  config.filter_verb = "filter";
  Start({config});
  Pod small = urgent_;
  small.spec.containers[0].resources.requests.clear();
  EXPECT_EQ(FailureFor(small),
            "0/2 nodes are available: 1 hot, 1 no licence. preemption: "
            "expected at least one victim pod on node \"node2\"");
  EXPECT_EQ(one_.CountCalls("preempt"), 0);
}

}  // namespace
}  // namespace minisched
