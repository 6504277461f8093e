#include "lab/live/serve_cluster.h"

#include <fmt/format.h>

#include <chrono>
#include <map>
#include <optional>
#include <utility>

#include "lab/live/managed_scheduler.h"
#include "lab/live/other_scheduler.h"
#include "minisched/app/live_page.h"
#include "minisched/app/pace.h"
#include "minisched/base/log.h"
#include "minisched/client/client.h"
#include "minisched/trace/trace.h"

namespace minisched::live {
namespace {

constexpr std::chrono::milliseconds kPeriod{50};

// Starts the scheduler of --scheduler. Without --kubeconfig, the scheduler
// finds the cluster as this program does.
void StartScheduler(const ClusterOptions& options,
                    std::optional<ManagedScheduler>& managed) {
  if (options.scheduler.empty()) return;
  std::map<std::string, std::string> environment = {
      {"SCHEDULER_NAME", options.scheduler_name}};
  if (!options.config.kubeconfig.empty()) {
    environment["KUBECONFIG"] = options.config.kubeconfig;
  }
  managed.emplace(options.scheduler, options.config_file, environment);
  spdlog::info("log of the scheduler: {}", managed->log());
}

}  // namespace

void ServeCluster(const ClusterOptions& options, const std::stop_token& stop) {
  RestConfig config =
      LoadRestConfig(options.config, ProcessEnvironment(), stop);
  config.user_agent = "minisched-live";
  Client client(config);
  const std::string version = client.ServerVersion(stop);
  std::optional<ManagedScheduler> managed;
  StartScheduler(options, managed);
  OtherScheduler scheduler(client, options.scheduler_name, options.records);
  Trace no_trace(options.scheduler_name);
  PaceSetter no_pace(no_trace, {}, stop);
  const auto change_actions = [&](LiveActions& actions) {
    actions.collect = nullptr;  // The loop below collects.
    actions.pace = nullptr;
    actions.end_wait = nullptr;
    actions.all_rejections = nullptr;
    actions.attempt = [&scheduler](const std::string& uid, int number) {
      return scheduler.FindAttempt(fmt::format("{}/{}", uid, number));
    };
    if (!managed) return;
    actions.config = [&managed](const http::Request& request,
                                LiveActions::Respond respond) {
      managed->Handle(request, std::move(respond));
    };
  };
  LivePage page(no_trace, no_pace, config,
                {.port = options.port,
                 .control = options.control,
                 .program = options.scheduler_name,
                 .scheduler_name = options.scheduler_name,
                 .server_version = version,
                 .port_flag = "--port ",
                 .change_actions = change_actions},
                stop);
  spdlog::info("live page: {}", page.url());
  do {
    for (Item& item : scheduler.Take()) page.collector().Push(std::move(item));
    page.collector().Collect(/*pages=*/1);  // also for pages to come
    if (managed) managed->Poll();
  } while (RealClock().SleepFor(kPeriod, stop));
}

}  // namespace minisched::live
