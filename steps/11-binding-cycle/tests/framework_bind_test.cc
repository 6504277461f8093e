// Tests Reserve, PreBind, Bind and PostBind of the framework, with cases of
// TestReservePlugins, TestPreBindPlugins and TestRunBindPlugins of upstream's
// framework_test.go.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "framework/framework.h"
#include "tests/hints_testing.h"
#include "tests/status_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The calls of the plugins, such as "Reserve A", and the callbacks that a
// plugin keeps for later.
struct Calls {
  std::vector<std::string> names;
  std::vector<StatusCallback> callbacks;
};

// What a plugin does: it returns the status, or keeps the callback.
using Result = std::optional<Status>;
constexpr std::nullopt_t kNoResultYet = std::nullopt;

class NamedPlugin : public virtual Plugin {
 public:
  NamedPlugin(std::string name, Result result, Calls& calls)
      : name_(std::move(name)), result_(std::move(result)), calls_(calls) {}
  std::string_view Name() const override { return name_; }

 protected:
  void Call(const std::string& point) const {
    calls_.names.push_back(point + " " + name_);
  }
  // Calls `done` at once, or keeps it.
  void Answer(const std::string& point, const Pod& pod, const std::string& node,
              const StatusCallback& done) const {
    Call(point + " " + pod.metadata.name + " on " + node + " by");
    if (result_) return done(*result_);
    calls_.callbacks.push_back(done);
  }
  const Result& result() const { return result_; }

 private:
  const std::string name_;
  const Result result_;
  Calls& calls_;
};

class FakeReserve final : public NamedPlugin, public ReservePlugin {
 public:
  using NamedPlugin::NamedPlugin;
  Status Reserve(CycleState& /*state*/, const Pod& /*pod*/,
                 const std::string& /*node_name*/) override {
    Call("Reserve");
    return *result();
  }
  void Unreserve(CycleState& /*state*/, const Pod& /*pod*/,
                 const std::string& /*node_name*/) override {
    Call("Unreserve");
  }
};

class FakePreBind final : public NamedPlugin, public PreBindPlugin {
 public:
  using NamedPlugin::NamedPlugin;
  void PreBind(CycleState& /*state*/, const Pod& pod,
               const std::string& node_name, const std::stop_token& /*stop*/,
               StatusCallback done) const override {
    Answer("PreBind", pod, node_name, done);
  }
};

class FakeBind final : public NamedPlugin, public BindPlugin {
 public:
  using NamedPlugin::NamedPlugin;
  void Bind(CycleState& /*state*/, const Pod& pod, const std::string& node_name,
            const std::stop_token& /*stop*/,
            StatusCallback done) const override {
    Answer("Bind", pod, node_name, done);
  }
};

class FakePostBind final : public NamedPlugin, public PostBindPlugin {
 public:
  using NamedPlugin::NamedPlugin;
  void PostBind(CycleState& /*state*/, const Pod& /*pod*/,
                const std::string& /*node_name*/) const override {
    Call("PostBind");
  }
};

class FrameworkBindTest : public ::testing::Test {
 protected:
  FrameworkBindTest() { pod_.metadata.name = "web-0"; }

  template <class Plugin>
  void Add(const std::string& name, Result result = Status()) {
    framework_.Add(std::make_unique<Plugin>(name, std::move(result), calls_));
  }

  std::string Reserve() {
    return Describe(framework_.RunReservePluginsReserve(state_, pod_, node_));
  }
  void Unreserve() {
    framework_.RunReservePluginsUnreserve(state_, pod_, node_);
  }
  // Return the statuses that the callback has received so far. It should
  // receive one.
  std::vector<std::string> PreBind() {
    framework_.RunPreBindPlugins(state_, pod_, node_, {}).Start(Recorder());
    return statuses_;
  }
  std::vector<std::string> Bind() {
    framework_.RunBindPlugins(state_, pod_, node_, {}).Start(Recorder());
    return statuses_;
  }
  // Calls the oldest callback that a plugin has kept, on another thread.
  std::vector<std::string> Answer(const Status& status) {
    const StatusCallback done = std::move(calls_.callbacks.front());
    calls_.callbacks.erase(calls_.callbacks.begin());
    std::thread([&] { done(status); }).join();
    return statuses_;
  }

  Calls calls_;
  Framework framework_;

 private:
  StatusCallback Recorder() {
    return
        [this](const Status& status) { statuses_.push_back(Describe(status)); };
  }

  CycleState state_;
  Pod pod_;
  const std::string node_ = "node-1";
  std::vector<std::string> statuses_;
};

TEST_F(FrameworkBindTest, ReserveRunsThePluginsInOrder) {
  EXPECT_EQ(Reserve(), "Success");
  Add<FakeReserve>("B");
  Add<FakeReserve>("A");
  EXPECT_EQ(Reserve(), "Success");
  EXPECT_THAT(calls_.names, ElementsAre("Reserve B", "Reserve A"));
}

TEST_F(FrameworkBindTest, ReserveStopsAtARejection) {
  Add<FakeReserve>("C");
  Add<FakeReserve>("B", Status(Code::kUnschedulable, "no volume yet"));
  Add<FakeReserve>("A", Status(Code::kError, "disk full"));
  EXPECT_EQ(Reserve(), "Unschedulable by B: no volume yet");
  EXPECT_THAT(calls_.names, ElementsAre("Reserve C", "Reserve B"));
}

TEST_F(FrameworkBindTest, ReserveStopsAtAnError) {
  Add<FakeReserve>("B", Status(Code::kError, "disk full"));
  Add<FakeReserve>("A");
  EXPECT_EQ(Reserve(), "Error by B: running Reserve plugin \"B\": disk full");
  EXPECT_THAT(calls_.names, ElementsAre("Reserve B"));
}

TEST_F(FrameworkBindTest, SkipAndWaitAreErrorsOfReserve) {
  for (const Code code : {Code::kSkip, Code::kWait}) {
    Framework framework;
    framework.Add(
        std::make_unique<FakeReserve>("A", Status(code, "why"), calls_));
    CycleState state;
    EXPECT_EQ(Describe(framework.RunReservePluginsReserve(state, {}, "node-1")),
              "Error by A: running Reserve plugin \"A\": why");
  }
}

// Unreserve also runs for the plugins after the one that has failed.
TEST_F(FrameworkBindTest, UnreserveRunsAllPluginsInReverseOrder) {
  Add<FakeReserve>("C");
  Add<FakeReserve>("B", Status(Code::kUnschedulable, "no volume"));
  Add<FakeReserve>("A");
  Reserve();
  calls_.names.clear();
  Unreserve();
  EXPECT_THAT(calls_.names,
              ElementsAre("Unreserve A", "Unreserve B", "Unreserve C"));
}

TEST_F(FrameworkBindTest, PluginsThatOnlyReserveRegisterEvents) {
  Add<FakeReserve>("A");
  Add<FakePreBind>("B");
  Add<FakeBind>("C");
  Add<FakePostBind>("D");
  EXPECT_THAT(DescribeHints(framework_),
              ElementsAre("A: Pod/All", "A: Node/All"));
}

TEST_F(FrameworkBindTest, PreBindSucceedsWithoutPlugins) {
  EXPECT_THAT(PreBind(), ElementsAre("Success"));
}

TEST_F(FrameworkBindTest, PreBindRunsThePluginsInOrder) {
  Add<FakePreBind>("B");
  Add<FakePreBind>("A");
  EXPECT_THAT(PreBind(), ElementsAre("Success"));
  EXPECT_THAT(calls_.names, ElementsAre("PreBind web-0 on node-1 by B",
                                        "PreBind web-0 on node-1 by A"));
}

TEST_F(FrameworkBindTest, EachPreBindWaitsForTheCallbackOfTheOneBefore) {
  Add<FakePreBind>("C", kNoResultYet);
  Add<FakePreBind>("B");
  Add<FakePreBind>("A", kNoResultYet);
  EXPECT_THAT(PreBind(), IsEmpty());
  EXPECT_THAT(calls_.names, ElementsAre("PreBind web-0 on node-1 by C"));
  EXPECT_THAT(Answer({}), IsEmpty());
  EXPECT_THAT(calls_.names, ElementsAre("PreBind web-0 on node-1 by C",
                                        "PreBind web-0 on node-1 by B",
                                        "PreBind web-0 on node-1 by A"));
  EXPECT_THAT(Answer({}), ElementsAre("Success"));
}

TEST_F(FrameworkBindTest, PreBindStopsAtARejection) {
  Add<FakePreBind>("B", Status(Code::kUnschedulable, "no volume"));
  Add<FakePreBind>("A");
  EXPECT_THAT(PreBind(), ElementsAre("Unschedulable by B: no volume"));
  EXPECT_THAT(calls_.names, ElementsAre("PreBind web-0 on node-1 by B"));
}

TEST_F(FrameworkBindTest, PreBindStopsAtAnErrorThatComesLater) {
  Add<FakePreBind>("B", kNoResultYet);
  Add<FakePreBind>("A");
  PreBind();
  EXPECT_THAT(
      Answer({Code::kError, "disk full"}),
      ElementsAre("Error by B: running PreBind plugin \"B\": disk full"));
  EXPECT_THAT(calls_.names, ElementsAre("PreBind web-0 on node-1 by B"));
}

TEST_F(FrameworkBindTest, SkipIsAnErrorOfPreBind) {
  Add<FakePreBind>("B", Status(Code::kSkip, "no volumes"));
  EXPECT_THAT(
      PreBind(),
      ElementsAre("Error by B: running PreBind plugin \"B\": no volumes"));
}

TEST_F(FrameworkBindTest, TheFirstBindPluginThatDoesNotSkipBindsThePod) {
  Add<FakeBind>("D", Status(Code::kSkip));
  Add<FakeBind>("C", kNoResultYet);
  Add<FakeBind>("B");
  Add<FakeBind>("A", Status(Code::kError, "not asked"));
  EXPECT_THAT(Bind(), IsEmpty());
  EXPECT_THAT(Answer(Code::kSkip), ElementsAre("Success by B"));
  EXPECT_THAT(calls_.names, ElementsAre("Bind web-0 on node-1 by D",
                                        "Bind web-0 on node-1 by C",
                                        "Bind web-0 on node-1 by B"));
}

TEST_F(FrameworkBindTest, BindStopsAtARejection) {
  Add<FakeBind>("B", Status(Code::kUnschedulable, "too late"));
  Add<FakeBind>("A");
  EXPECT_THAT(Bind(), ElementsAre("Unschedulable by B: too late"));
  EXPECT_THAT(calls_.names, ElementsAre("Bind web-0 on node-1 by B"));
}

TEST_F(FrameworkBindTest, BindStopsAtAnError) {
  Add<FakeBind>("B", Status(Code::kError, "disk full"));
  Add<FakeBind>("A");
  EXPECT_THAT(Bind(),
              ElementsAre("Error by B: running Bind plugin \"B\": disk full"));
  EXPECT_THAT(calls_.names, ElementsAre("Bind web-0 on node-1 by B"));
}

TEST_F(FrameworkBindTest, BindFailsIfAllPluginsSkip) {
  Add<FakeBind>("B", Status(Code::kSkip));
  Add<FakeBind>("A", Status(Code::kSkip));
  EXPECT_THAT(Bind(), ElementsAre("Error: no Bind plugin has bound the pod"));
  EXPECT_THAT(calls_.names, ElementsAre("Bind web-0 on node-1 by B",
                                        "Bind web-0 on node-1 by A"));
}

TEST_F(FrameworkBindTest, BindFailsWithoutPlugins) {
  EXPECT_THAT(Bind(), ElementsAre("Error: no Bind plugin has bound the pod"));
}

TEST_F(FrameworkBindTest, PostBindRunsThePluginsInOrder) {
  Add<FakePostBind>("B");
  Add<FakePostBind>("A");
  CycleState state;
  framework_.RunPostBindPlugins(state, {}, "node-1");
  EXPECT_THAT(calls_.names, ElementsAre("PostBind B", "PostBind A"));
}

}  // namespace
}  // namespace minisched
