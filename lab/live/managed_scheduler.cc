#include "lab/live/managed_scheduler.h"

#include <fmt/format.h>

#include <fstream>
#include <stdexcept>
#include <utility>

#include "lab/live/access.h"
#include "lab/live/api_proxy.h"
#include "lab/scenario/errors.h"
#include "minisched/base/log.h"
#include "minisched/client/config_files.h"

namespace minisched::live {
namespace {

constexpr std::size_t kLogLines = 8;

}  // namespace

ManagedScheduler::ManagedScheduler(
    std::string command, const std::string& config,
    scenario::RunSettings settings,
    std::map<std::string, std::string> environment, Clock& clock)
    : command_(std::move(command)),
      settings_(std::move(settings)),
      environment_(std::move(environment)),
      clock_(clock),
      has_config_(!config.empty()),
      config_(has_config_ ? ReadFileOrPipe(config, "--config " + config, {})
                          : "") {
  environment_["SCHEDULER_CONFIG"] = directory_.path() / "config.yaml";
  Start();
}

void ManagedScheduler::Start() {
  process_.reset();
  if (has_config_) {
    MutexLock lock(mu_);
    std::ofstream(environment_["SCHEDULER_CONFIG"])
        << CompleteSchedulerConfig(config_, "--config", settings_);
  }
  std::filesystem::remove(log());
  process_.emplace(command_, environment_, log());
  trial_end_ = clock_.Now() + kTrial;
}

void ManagedScheduler::Handle(const http::Request& request, Respond respond) {
  MutexLock lock(mu_);
  if (request.method == "GET") {
    return respond({.content_type = "application/yaml", .body = config_});
  }
  try {
    CompleteSchedulerConfig(request.body, "the configuration", settings_);
  } catch (const scenario::CannotPlay& error) {
    return respond(YamlErrorReply(error.what()));
  }
  if (respond_) {
    return respond(ErrorReply(
        409, "the scheduler is starting with another change: try again"));
  }
  asked_ = request.body;
  respond_ = std::move(respond);
}

void ManagedScheduler::Poll() {
  bool restart = false;
  {
    MutexLock lock(mu_);
    restart = asked_.has_value();
    if (restart) before_ = std::exchange(config_, *std::move(asked_));
    asked_.reset();
  }
  if (restart) Start();
  const auto ended = process_ ? process_->Ended() : std::nullopt;
  const bool is_trial = clock_.Now() < trial_end_;
  if (!ended && !is_trial && before_) {
    before_.reset();
    EndChange({.status = 204});
  }
  if (!ended) return;
  process_.reset();
  const std::string error =
      fmt::format("the scheduler ended with {}: {}", *ended,
                  scenario::LastLines(log(), kLogLines));
  if (before_) {
    {
      MutexLock lock(mu_);
      config_ = *std::exchange(before_, std::nullopt);
    }
    Start();
    trial_end_ = {};  // If this scheduler ends too, Poll() must not throw.
    return EndChange(
        ErrorReply(409, "the old configuration is back, because " + error));
  }
  if (is_trial) throw std::runtime_error(error);
  spdlog::error("{}{}", error,
                has_config_ ? "Save its configuration in the page to start it "
                              "again"
                            : "Start this program again");
}

void ManagedScheduler::EndChange(http::Reply reply) {
  Respond respond;
  {
    MutexLock lock(mu_);
    respond.swap(respond_);
  }
  respond(std::move(reply));
}

}  // namespace minisched::live
