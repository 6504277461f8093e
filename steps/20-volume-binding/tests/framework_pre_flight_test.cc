// TestPreBindPreFlightPlugins of upstream's framework_test.go.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "framework/framework.h"
#include "tests/status_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class PlannedPreBind final : public PreBindPlugin {
 public:
  PlannedPreBind(std::string name, Status pre_flight,
                 std::vector<std::string>& calls)
      : name_(std::move(name)),
        pre_flight_(std::move(pre_flight)),
        calls_(calls) {}
  std::string_view Name() const override { return name_; }
  Status PreBindPreFlight(const CycleState& /*state*/, const Pod& /*pod*/,
                          const std::string& node_name) const override {
    calls_.push_back("PreBindPreFlight " + name_ + " on " + node_name);
    return pre_flight_;
  }
  void PreBind(CycleState& /*state*/, const Pod& /*pod*/,
               const std::string& /*node_name*/,
               const std::stop_token& /*stop*/,
               StatusCallback done) const override {
    calls_.push_back("PreBind " + name_);
    done({});
  }

 private:
  const std::string name_;
  const Status pre_flight_;
  std::vector<std::string>& calls_;
};

class FrameworkPreFlightTest : public ::testing::Test {
 protected:
  void Add(const std::string& name, const Status& pre_flight) {
    framework_.Add(std::make_unique<PlannedPreBind>(name, pre_flight, calls_));
  }
  std::string PreFlights() {
    return Describe(framework_.RunPreBindPreFlights(state_, {}, "node-1"));
  }
  // Returns the calls of the plugins.
  std::vector<std::string> PreBind() {
    calls_.clear();
    framework_.RunPreBindPlugins(state_, {}, "node-1", {})
        .Start([](const Status& status) { EXPECT_TRUE(status.IsSuccess()); });
    return calls_;
  }

  std::vector<std::string> calls_;

 private:
  Framework framework_;
  CycleState state_;
};

TEST_F(FrameworkPreFlightTest, SkipWithoutPlugins) {
  EXPECT_EQ(PreFlights(), "Skip");
}

// "Success when PreBindPreFlight returns Success".
TEST_F(FrameworkPreFlightTest, SuccessIfOnePluginHasSomethingToDo) {
  Add("A", Code::kSkip);
  Add("B", {});
  Add("C", Code::kSkip);
  EXPECT_EQ(PreFlights(), "Success");
  EXPECT_THAT(calls_, ElementsAre("PreBindPreFlight A on node-1",
                                  "PreBindPreFlight B on node-1",
                                  "PreBindPreFlight C on node-1"));
  EXPECT_THAT(PreBind(), ElementsAre("PreBind B"));
}

// "Skip when all PreBindPreFlight returns Skip".
TEST_F(FrameworkPreFlightTest, SkipIfNoPluginHasAnythingToDo) {
  Add("A", Code::kSkip);
  Add("B", Code::kSkip);
  EXPECT_EQ(PreFlights(), "Skip");
  EXPECT_THAT(PreBind(), IsEmpty());
}

// "Error when PreBindPreFlight returns Error".
TEST_F(FrameworkPreFlightTest, StopsAtAnError) {
  Add("A", {});
  Add("B", {Code::kError, "disk full"});
  Add("C", {});
  EXPECT_EQ(PreFlights(), "Error: running PreBindPreFlight \"B\": disk full");
  EXPECT_EQ(calls_.size(), 2U);
}

// "Error when PreBindPreFlight returns Unschedulable", with another message.
TEST_F(FrameworkPreFlightTest, ARejectionIsAnError) {
  Add("A", {Code::kUnschedulable, "no"});
  EXPECT_EQ(PreFlights(), "Error: running PreBindPreFlight \"A\": no");
}

// A plugin without the function, for example one of an older step.
class OnlyPreBind final : public PreBindPlugin {
 public:
  std::string_view Name() const override { return "OnlyPreBind"; }
  void PreBind(CycleState& /*state*/, const Pod& /*pod*/,
               const std::string& /*node_name*/,
               const std::stop_token& /*stop*/,
               StatusCallback done) const override {
    done({});
  }
};

TEST_F(FrameworkPreFlightTest, ByDefaultAPluginHasSomethingToDo) {
  Framework framework;
  framework.Add(std::make_unique<OnlyPreBind>());
  CycleState state;
  EXPECT_EQ(Describe(framework.RunPreBindPreFlights(state, {}, "node-1")),
            "Success");
  EXPECT_FALSE(state.SkipsPreBind("OnlyPreBind"));
}

}  // namespace
}  // namespace minisched
