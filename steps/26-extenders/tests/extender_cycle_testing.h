#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "minisched/base/fake_clock.h"
#include "scheduler.h"
#include "testing/scripted_cluster.h"
#include "tests/extender_testing.h"
#include "tests/options_testing.h"
#include "tests/preemption_testing.h"
#include "tests/scheduler_testing.h"

namespace minisched {

// A scheduler that doesn't run, with extenders.
class ExtenderCycleTest : public ::testing::Test {
 protected:
  void AddNodes(const std::vector<std::string>& names, int cpu = 4) {
    for (const std::string& name : names) cluster_.Add(NewNodeOf(name, cpu));
  }

  // Makes a scheduler, which reads the cluster.
  void Start(const std::vector<ExtenderConfig>& extenders,
             const std::string& plugins = "",
             const Registry& registry = NewInTreeRegistry()) {
    SchedulerOptions options = OptionsWith(plugins, registry);
    options.configuration.extenders = extenders;
    client_.emplace(cluster_.config());
    scheduler_.emplace(AppContext{*client_, "minisched", trace_, {}}, options,
                       clock_);
    SchedulerPeer::ReadCluster(*scheduler_);
  }

  // Returns the node that the scheduler selects for the pod.
  std::string Schedule(const Pod& pod = {}) {
    return SchedulerPeer::Schedule(*scheduler_, *Whole(pod));
  }
  // Returns why the pod fits no node.
  std::string FailureFor(const Pod& pod = {}) {
    return SchedulerPeer::FailureFor(*scheduler_, *Whole(pod));
  }

  // Makes an extender with nodeCacheCapable allow these nodes.
  static void Allow(FakeExtender& fake, const std::vector<std::string>& nodes) {
    fake.Decides("filter", [nodes](const std::string& arguments) {
      nlohmann::json left = nlohmann::json::array();
      for (const auto& name : NamesOf(arguments)) {
        if (std::ranges::count(nodes, name) > 0) left.push_back(name);
      }
      return nlohmann::json{{"NodeNames", left}}.dump();
    });
  }
  // Makes an extender give these scores.
  static void Score(FakeExtender& fake,
                    const std::map<std::string, int>& scores) {
    nlohmann::json answer = nlohmann::json::array();
    for (const auto& [name, score] : scores) {
      answer.push_back({{"Host", name}, {"Score", score}});
    }
    fake.Answers("prioritize", answer.dump());
  }
  // Returns the names of the nodes that a call is about.
  static std::vector<std::string> NamesOf(const std::string& arguments) {
    return nlohmann::json::parse(arguments).at("NodeNames");
  }
  // Returns the names of the nodes of all calls of the verb.
  static std::vector<std::vector<std::string>> AskedAbout(
      const FakeExtender& fake, const std::string& verb) {
    std::vector<std::vector<std::string>> asked;
    for (const auto& call : fake.calls()) {
      if (call.target == "/" + verb) asked.push_back(NamesOf(call.body));
    }
    return asked;
  }

  FakeClock clock_;
  Trace trace_{"minisched", clock_};
  ScriptedCluster cluster_{clock_};
  std::optional<Client> client_;
  std::optional<Scheduler> scheduler_;
};

}  // namespace minisched
