// Tests the hints of the framework.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/framework.h"
#include "tests/hints_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using RegisteredEvents = std::vector<ClusterEventWithHint>;

QueueingHint NeverQueues(const Pod& /*pod*/, const ClusterChange& /*change*/) {
  return QueueingHint::kSkip;
}

// A filter plugin that registers these events.
class RegisteringPlugin : public virtual FilterPlugin {
 public:
  RegisteringPlugin(std::string name, RegisteredEvents registered)
      : name_(std::move(name)), registered_(std::move(registered)) {}
  std::string_view Name() const override { return name_; }
  RegisteredEvents EventsToRegister() const override { return registered_; }
  Status Filter(const CycleState& /*state*/, const Pod& /*pod*/,
                const NodeInfo& /*node*/) const override {
    return {};
  }

 private:
  const std::string name_;
  const RegisteredEvents registered_;
};

// A plugin of two extension points at which plugins reject pods.
class TwoPointsPlugin final : public RegisteringPlugin, public PreFilterPlugin {
 public:
  using RegisteringPlugin::RegisteringPlugin;
  Status PreFilter(CycleState& /*state*/, const Pod& /*pod*/,
                   const Nodes& /*nodes*/,
                   PreFilterResult& /*result*/) const override {
    return {};
  }
};

// Plugins that use the default of EventsToRegister().
class DefaultFilterPlugin final : public FilterPlugin {
 public:
  std::string_view Name() const override { return "DefaultFilter"; }
  Status Filter(const CycleState& /*state*/, const Pod& /*pod*/,
                const NodeInfo& /*node*/) const override {
    return {};
  }
};

class DefaultPreFilterPlugin final : public PreFilterPlugin {
 public:
  std::string_view Name() const override { return "DefaultPreFilter"; }
  Status PreFilter(CycleState& /*state*/, const Pod& /*pod*/,
                   const Nodes& /*nodes*/,
                   PreFilterResult& /*result*/) const override {
    return {};
  }
};

class DefaultScorePlugin final : public ScorePlugin {
 public:
  std::string_view Name() const override { return "DefaultScore"; }
  Status Score(const CycleState& /*state*/, const Pod& /*pod*/,
               const NodeInfo& /*node*/,
               std::int64_t& /*score*/) const override {
    return {};
  }
};

class DefaultQueueSortPlugin final : public QueueSortPlugin {
 public:
  std::string_view Name() const override { return "DefaultQueueSort"; }
  bool Less(const QueuedPodInfo& /*a*/,
            const QueuedPodInfo& /*b*/) const override {
    return false;
  }
};

class FrameworkHintsTest : public ::testing::Test {
 protected:
  template <class Plugin, class... Args>
  void Add(Args&&... args) {
    framework_.Add(std::make_unique<Plugin>(std::forward<Args>(args)...));
  }
  void Register(const std::string& name, RegisteredEvents registered) {
    Add<RegisteringPlugin>(name, std::move(registered));
  }

  Framework framework_;
};

// Upstream's case "filter without EnqueueExtensions plugin".
TEST_F(FrameworkHintsTest, ByDefaultEachEventQueuesThePod) {
  Add<DefaultFilterPlugin>();
  Add<DefaultPreFilterPlugin>();
  EXPECT_THAT(
      DescribeHints(framework_),
      ElementsAre("DefaultFilter: Pod/All", "DefaultFilter: Node/All",
                  "DefaultPreFilter: Pod/All", "DefaultPreFilter: Node/All"));
}

TEST_F(FrameworkHintsTest, PluginsThatRejectNoPodRegisterNothing) {
  Add<DefaultScorePlugin>();
  Add<DefaultQueueSortPlugin>();
  EXPECT_THAT(DescribeHints(framework_), IsEmpty());
}

// Upstream's case "register plugin with empty event".
TEST_F(FrameworkHintsTest, AnEmptyListRegistersNothing) {
  Register("Empty", {});
  EXPECT_THAT(DescribeHints(framework_), IsEmpty());
}

// Upstream's case "node and pod plugin".
TEST_F(FrameworkHintsTest, HintsAreInTheOrderOfThePluginsAndTheirEvents) {
  Register("B", {{{EventResource::kPod, action::kDelete}, NeverQueues},
                 {{EventResource::kPod, action::kAdd}}});
  Register("Empty", {});
  Register("A", {{{EventResource::kNode, action::kUpdateNodeLabel}}});
  EXPECT_THAT(DescribeHints(framework_),
              ElementsAre("B: Pod/Delete with a hint", "B: Pod/Add",
                          "A: Node/UpdateNodeLabel"));
}

TEST_F(FrameworkHintsTest, APluginOfTwoExtensionPointsRegistersOnce) {
  Add<TwoPointsPlugin>(
      "A",
      RegisteredEvents{{{EventResource::kPod, action::kDelete}, NeverQueues}});
  EXPECT_THAT(DescribeHints(framework_),
              ElementsAre("A: Pod/Delete with a hint"));
}

TEST_F(FrameworkHintsTest, KeepsThePluginsHint) {
  Register("A", {{{EventResource::kPod, action::kDelete}, NeverQueues}});
  const auto& hints = framework_.queueing_hints();
  ASSERT_EQ(hints.size(), 1U);
  EXPECT_EQ(hints[0].registered.hint({}, {}), QueueingHint::kSkip);
}

}  // namespace
}  // namespace minisched
