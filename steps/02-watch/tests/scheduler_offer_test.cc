// Tests what the scheduler offers to readers of its trace.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "minisched/base/fake_clock.h"
#include "scheduler.h"
#include "testing/scripted_cluster.h"

namespace minisched {
namespace {

TEST(SchedulerOfferTest, AReaderOfTheTraceGetsTheOrderOfActiveQ) {
  FakeClock clock;
  ScriptedCluster cluster(clock);
  const std::vector<std::string> uids = {"1", "2", "3"};
  for (const std::string& uid : uids) {
    Pod pod;
    pod.metadata.namespace_name = "default";
    pod.metadata.name = "web-" + uid;
    pod.metadata.uid = uid;
    pod.spec.scheduler_name = "minisched";
    cluster.Add(pod);
  }
  Client client(cluster.config());
  Trace trace("minisched", clock);
  trace.Pause();
  std::optional<Scheduler> scheduler(std::in_place,
                                     AppContext{client, "minisched", trace, {}},
                                     SchedulerOptions{}, clock);
  std::stop_source stop;
  auto run =
      std::async(std::launch::async, [&] { scheduler->Run(stop.get_token()); });
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (trace.ActiveOrder(0).length < uids.size() &&
         std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  QueueRecord order = trace.ActiveOrder(uids.size());
  stop.request_stop();
  run.get();
  std::sort(order.active.begin(), order.active.end());
  EXPECT_EQ(order, (QueueRecord{uids, uids.size()}));
  scheduler.reset();
  EXPECT_EQ(trace.ActiveOrder(uids.size()), QueueRecord());
}

}  // namespace
}  // namespace minisched
