#include "lab/live/serve_cluster.h"

#include <chrono>

#include "lab/live/live_page.h"
#include "lab/live/scheduler_source.h"
#include "minisched/base/log.h"
#include "minisched/client/client.h"

namespace minisched::live {
namespace {

constexpr std::chrono::milliseconds kPeriod{50};

}  // namespace

void ServeCluster(const ClusterOptions& options, const std::stop_token& stop) {
  RestConfig config =
      LoadRestConfig(options.config, ProcessEnvironment(), stop);
  config.user_agent = "minisched-live";
  Client client(config);
  const std::string version = client.ServerVersion(stop);
  SchedulerSource source(options, client, stop);
  LivePage page(config,
                {.port = options.port,
                 .control = options.control,
                 .program = source.program(),
                 .scheduler_name = source.name(),
                 .server_version = version,
                 .add_actions =
                     [&](LiveActions& actions) { source.AddActions(actions); }},
                stop);
  spdlog::info("live page: {}", page.url());
  do {
    source.Collect(page.collector());
  } while (RealClock().SleepFor(kPeriod, stop));
}

}  // namespace minisched::live
