// Tests what the event handlers report to the groups of pods.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "minisched/base/mutex.h"
#include "tests/event_handlers_testing.h"
#include "tests/pod_groups_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kNodeOfGroups[] = R"(
{apiVersion: v1, kind: Node, metadata: {name: node-1}})";

class EventHandlersGroupsTest : public EventHandlersTest {
 protected:
  void CreateMember(const std::string& name) {
    Pod pod = GroupMember(name, "job");
    pod.metadata.uid = "";
    pod.metadata.resource_version = "";
    pod.spec.containers = {{.name = "c", .image = "i"}};
    client_->Create(pod);
  }
  void Delete(const std::string& name) {
    client_->Delete<Pod>("default", name, {.grace_period_seconds = 0});
  }
  PodGroups::Members Job() const {
    return pod_groups_.MembersOf("default/job");
  }

  // Returns how many members were placed in each event of a deleted pod.
  std::vector<std::size_t> PlacedAtDeletions() EXCLUDES(mu_) {
    MutexLock lock(mu_);
    return placed_at_deletions_;
  }

 private:
  QueueingHint Record(const ClusterChange& change) override EXCLUDES(mu_) {
    if (change.event.Label() == "AssignedPodDelete") {
      MutexLock lock(mu_);
      placed_at_deletions_.push_back(Job().placed());
    }
    return QueueingHint::kSkip;
  }

  Mutex mu_;
  std::vector<std::size_t> placed_at_deletions_ GUARDED_BY(mu_);
};

TEST_F(EventHandlersGroupsTest, MembersAreAddedUpdatedAndRemoved) {
  Start(kNodeOfGroups);
  CreateMember("a");
  CreateMember("b");
  EXPECT_THAT(PopUpTo("added"), ElementsAre("a", "b"));
  EXPECT_THAT(NamesOfPods(Job().pending), ElementsAre("a", "b"));
  Bind("a", "node-1");
  PopUpTo("bound");
  EXPECT_EQ(Job().bound.size(), 1);
  EXPECT_THAT(NamesOfPods(Job().pending), ElementsAre("b"));
  Patch("b", R"({"metadata":{"labels":null}})");
  PopUpTo("unlabeled");
  EXPECT_THAT(Job().pending, IsEmpty());
  Delete("a");
  PopUpTo("deleted");
  EXPECT_EQ(Job().size(), 0);
}

// Otherwise a pod that the event wakes could complete the group with a member
// that is going to be deleted.
TEST_F(EventHandlersGroupsTest, ADeletedMemberIsNotPlacedWhenOthersAreWoken) {
  Start(kNodeOfGroups);
  Create("recorder");
  Reject("Recorder");
  CreateMember("a");
  pod_groups_.Assume(*Assume("node-1"));
  EXPECT_EQ(Job().placed(), 1);
  Delete("a");
  PopUpTo("deleted");
  EXPECT_THAT(PlacedAtDeletions(), ElementsAre(0));
}

}  // namespace
}  // namespace minisched
