#include "queue/nominator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "minisched/api/pod_preemption.h"
#include "tests/scheduling_queue_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class NominatorTest : public ::testing::Test {
 protected:
  std::vector<std::string> PodsOn(const std::string& node) const {
    std::vector<std::string> names;
    for (const PodInfoPtr& info : nominator_.NominatedPodsForNode(node)) {
      names.push_back(info->pod->metadata.name);
    }
    return names;
  }

  Nominator nominator_;
  const Pod a_ = *MakePod("a");
  const Pod b_ = *MakePod("b");
};

TEST_F(NominatorTest, HasThePodsOfEachNode) {
  EXPECT_EQ(nominator_.Nominate(a_, "node-1"), "");
  EXPECT_EQ(nominator_.Nominate(b_, "node-1"), "");
  EXPECT_EQ(nominator_.NominatedNode(a_), "node-1");
  EXPECT_THAT(PodsOn("node-1"), ElementsAre("a", "b"));
  EXPECT_THAT(PodsOn("node-2"), IsEmpty());
}

TEST_F(NominatorTest, APodHasOneNode) {
  nominator_.Nominate(a_, "node-1");
  EXPECT_EQ(nominator_.Nominate(a_, "node-2"), "node-1");
  EXPECT_EQ(nominator_.NominatedNode(a_), "node-2");
  EXPECT_THAT(PodsOn("node-1"), IsEmpty());
  EXPECT_THAT(PodsOn("node-2"), ElementsAre("a"));
}

TEST_F(NominatorTest, AnEmptyNameEndsTheNomination) {
  EXPECT_EQ(nominator_.Nominate(a_, ""), "");
  nominator_.Nominate(a_, "node-1");
  nominator_.Nominate(b_, "node-1");
  EXPECT_EQ(nominator_.Nominate(a_, ""), "node-1");
  EXPECT_EQ(nominator_.NominatedNode(a_), "");
  EXPECT_THAT(PodsOn("node-1"), ElementsAre("b"));
  EXPECT_THAT(PodsOn(""), IsEmpty());
}

TEST_F(NominatorTest, HasTheNewestStateOfAPod) {
  nominator_.Nominate(*WithPriority("a", 1), "node-1");
  EXPECT_EQ(nominator_.Nominate(*WithPriority("a", 2), "node-1"), "node-1");
  const auto pods = nominator_.NominatedPodsForNode("node-1");
  ASSERT_EQ(pods.size(), 1);
  EXPECT_EQ(PodPriority(*pods[0]->pod), 2);
}

TEST_F(NominatorTest, DistinguishesPodsOfTheSameName) {
  const Pod namesake = *MakePod("a", "2", "another uid");
  nominator_.Nominate(a_, "node-1");
  EXPECT_EQ(nominator_.NominatedNode(namesake), "");
  EXPECT_EQ(nominator_.Nominate(namesake, ""), "");
  EXPECT_EQ(nominator_.NominatedNode(a_), "node-1");
}

}  // namespace
}  // namespace minisched
