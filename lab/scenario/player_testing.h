#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "lab/apiserver/server.h"
#include "lab/scenario/errors.h"
#include "lab/scenario/files_testing.h"
#include "lab/scenario/player.h"

namespace minisched::scenario {

// A minimal scheduler: polls for unbound pods with its schedulerName, and binds
// each pod to the node that `choose` returns ("": not yet).
class TinyScheduler {
 public:
  using Choose = std::function<std::string(const Pod& pod)>;

  TinyScheduler(RestConfig config, Choose choose,
                std::string name = "minisched")
      : client_(WithAgent(std::move(config))),
        choose_(std::move(choose)),
        name_(std::move(name)),
        thread_([this](const std::stop_token& stop) { Run(stop); }) {}

 private:
  static RestConfig WithAgent(RestConfig config) {
    config.user_agent = "tiny/1";
    return config;
  }

  void Run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      try {
        for (const auto& pod :
             client_.List<Pod>({.field_selector = "spec.nodeName="}, stop)
                 .items) {
          if (pod->spec.scheduler_name == name_) Bind(*pod, stop);
        }
      } catch (const Cancelled&) {
        return;
      } catch (const std::exception&) {
        // The server is unreachable, or the pod is gone.
      }
      RealClock().SleepFor(std::chrono::milliseconds(5), stop);
    }
  }

  void Bind(const Pod& pod, const std::stop_token& stop) {
    const std::string node = choose_(pod);
    if (node.empty()) return;
    client_.Bind({.metadata = {.name = pod.metadata.name,
                               .namespace_name = pod.metadata.namespace_name,
                               .uid = pod.metadata.uid},
                  .target = {.kind = "Node", .name = node}},
                 stop);
  }

  Client client_;
  const Choose choose_;
  const std::string name_;
  std::jthread thread_;
};

inline std::string OnA(const Pod&) { return "a"; }

// A fixture with an embedded server and a player on it.
class PlayerTest : public testing::Test {
 protected:
  explicit PlayerTest(bool simulate_kubelet = true)
      : server_({.simulate_kubelet = simulate_kubelet,
                 .simulate_workloads = true}) {}
  ~PlayerTest() override { server_.Stop(); }

  RestConfig Config() const {
    RestConfig config;
    config.server = server_.url();
    config.qps = 0;
    return config;
  }
  static RestConfig PlayerConfig(RestConfig config) {
    config.user_agent = "minisched-scenario/test";
    return config;
  }

  // Plays a scenario with nodes a and b.
  Result Play(const std::string& steps) { return PlayFile(kNodes + steps); }
  Result PlayFile(const std::string& rest) {
    const Scenario scenario = ReadScenario(directory_.Write(
        "my-test.yaml", "title: T\nwhy: W\nsince: 1\n" + rest));
    options_.config = PlayerConfig(Config());
    options_.directory = directory_.path();
    TextReport report(output_, false);
    return Player(options_, report, stop_.get_token())
        .Play(scenario, stop_.get_token());
  }
  // Returns the message of the CannotPlay that playing throws.
  std::string Refusal(const std::string& rest) {
    try {
      PlayFile(rest);
    } catch (const CannotPlay& error) {
      return error.what();
    }
    return "no refusal";
  }

  nlohmann::json GetJson(const std::string& path) {
    return nlohmann::json::parse(client_.Send({.method = "GET", .path = path}));
  }
  std::vector<std::string> Names(const std::string& path) {
    std::vector<std::string> names;
    const nlohmann::json list = GetJson(path);
    for (const auto& item : list["items"]) {
      names.push_back(item["metadata"]["name"]);
    }
    return names;
  }
  void Post(const std::string& path, const std::string& body) {
    client_.Send({.method = "POST", .path = path, .body = body});
  }
  void ExpectNothingLeft(const std::vector<std::string>& nodes = {}) {
    EXPECT_EQ(Names("/api/v1/namespaces"), namespaces_);
    EXPECT_EQ(Names("/api/v1/nodes"), nodes);
    EXPECT_THAT(Names("/api/v1/pods"), testing::IsEmpty());
    EXPECT_THAT(GetJson("/minisched/faults")["faults"], testing::IsEmpty());
  }

  static constexpr char kNodes[] = "nodes: [{names: [a, b]}]\n";

  const TestDirectory directory_;
  apiserver::Server server_;
  std::jthread thread_{[this] { server_.Run(); }};
  Client client_{Config()};
  const std::vector<std::string> namespaces_ = Names("/api/v1/namespaces");
  PlayerOptions options_;
  std::stop_source stop_;
  std::ostringstream output_;
};

}  // namespace minisched::scenario
