#include "lab/live/scheduler_source.h"

#include <chrono>
#include <map>
#include <stdexcept>
#include <utility>

#include "lab/live/access.h"
#include "lab/live/json.h"
#include "minisched/base/log.h"

namespace minisched::live {
namespace {

constexpr std::chrono::seconds kStart{10};  // of a scheduler

}  // namespace

SchedulerSource::SchedulerSource(const ClusterOptions& options, Client& client,
                                 const std::stop_token& stop)
    : name_(options.scheduler_name) {
  std::string url = options.trace;
  if (!options.scheduler.empty()) StartScheduler(options, url);
  if (!url.empty()) {
    trace_.emplace(url);
    info_ = trace_->AwaitInfo(kStart, stop, [this] {
      if (managed_) managed_->Poll();  // throws if the scheduler has ended
    });
    name_ = info_.scheduler;
  }
  if (!options.records.empty()) records_.emplace(options.records);
  scheduler_.emplace(client, name_,
                     trace_ || records_ ? OtherScheduler::Source::kRecords
                                        : OtherScheduler::Source::kPods,
                     // A trace has the whole attempts itself.
                     trace_ ? 0 : OtherScheduler::kAttemptBytes);
}

void SchedulerSource::AddActions(LiveActions& actions) {
  actions.attempt = [this](const http::Request& request,
                           LiveActions::Respond respond) {
    if (trace_) return trace_->GetAttempt(request, std::move(respond));
    respond(AttemptReply(request.path, scheduler_->FindAttempt(request.path)));
  };
  if (managed_ && has_config_) {
    actions.config = [this](const http::Request& request,
                            LiveActions::Respond respond) {
      managed_->Handle(request, std::move(respond));
    };
  }
  if (!trace_) return;
  // The loop below collects while a page is connected.
  actions.collect = [this](std::size_t pages) {
    pages_ = pages;
    return pages > 0;
  };
  actions.all_rejections = [this](const http::Request& request,
                                  const LiveActions::Respond& respond) {
    AskForAllRejections(request, respond);
  };
  if (!info_.control) return;
  actions.pace = [this](const http::Request& request,
                        LiveActions::Respond respond) {
    trace_->SetPace(request, std::move(respond));
  };
  actions.end_wait = [this](const http::Request& request,
                            LiveActions::Respond respond) {
    trace_->EndWait(request, std::move(respond));
  };
}

void SchedulerSource::Collect(Collector& collector) {
  if (managed_) managed_->Poll();
  if (records_) PollRecords();
  const bool is_reading = trace_ && ReadTrace(collector);
  for (Item& item : scheduler_->Take()) {
    has_reported_ = has_reported_ || item.key != "/scheduler";
    collector.Push(std::move(item));
  }
  const std::uint64_t missing = scheduler_->TakeMissing();
  if (is_caught_up_ && missing > 0) collector.PushDropped(missing);
  const bool collects =
      collector.Collect(trace_ ? pages_.load() : 1, !is_caught_up_);
  if (!trace_) {
    is_caught_up_ = true;
  } else if (!collects && is_reading) {
    StopReading();
  } else {
    is_collecting_ = collects;
  }
}

void SchedulerSource::StopReading() {
  trace_->Stop();
  scheduler_->Clear();
  malformed_.clear();
  is_caught_up_ = false;
  is_collecting_ = false;
  MutexLock lock(mu_);
  all_rejections_ = false;
  respond_ = nullptr;
}

// Without --kubeconfig, the scheduler finds the cluster as this program does.
// If the command uses $METRICS_PORT, sets `url` to the one of the trace there.
void SchedulerSource::StartScheduler(const ClusterOptions& options,
                                     std::string& url) {
  std::map<std::string, std::string> environment = {
      {"SCHEDULER_NAME", options.scheduler_name}};
  if (!options.config.kubeconfig.empty()) {
    environment["KUBECONFIG"] = options.config.kubeconfig;
  }
  const std::string port = std::to_string(port_.number());
  environment["METRICS_PORT"] = port;
  if (options.scheduler.find("METRICS_PORT") != std::string::npos &&
      options.config_file.empty()) {
    url = "http://127.0.0.1:" + port;
  }
  has_config_ = !options.config_file.empty();
  // A profile without a name has the default one anyway.
  const std::string& name = options.scheduler_name;
  managed_.emplace(
      options.scheduler, options.config_file,
      scenario::RunSettings{
          .kubeconfig = options.config.kubeconfig,
          .scheduler_name = name == "default-scheduler" ? "" : name},
      environment);
  spdlog::info("log of the scheduler: {}", managed_->log());
}

void SchedulerSource::PollRecords() {
  std::string place;
  try {
    records_->Poll([&](const std::string& text, const std::string& its_place) {
      place = its_place + ": ";
      scheduler_->ReadRecord(text);
    });
  } catch (const std::runtime_error& error) {
    spdlog::error("--records: {}{}: the page shows no further records", place,
                  error.what());
    records_.reset();
  }
}

void SchedulerSource::AskForAllRejections(const http::Request& request,
                                          const LiveActions::Respond& respond) {
  const Json body = Json::parse(request.body, nullptr,
                                /*allow_exceptions=*/false);
  if (!body.is_object() || !body.value("on", Json()).is_boolean()) {
    return respond(ErrorReply(400, R"(expected {"on": true} or false)"));
  }
  LiveActions::Respond replaced = respond;
  {
    MutexLock lock(mu_);
    all_rejections_ = body["on"].get<bool>();
    respond_.swap(replaced);
  }
  if (replaced) replaced({.status = 204});
}

bool SchedulerSource::ReadTrace(Collector& collector) {
  if (!is_collecting_ && pages_ == 0) return false;
  const bool all_rejections = IsAskedForAllRejections();
  trace_->Start(all_rejections);
  const TraceTail::News news = trace_->Take();
  if (news.restarted) {
    scheduler_->Clear();
    malformed_.clear();
    collector.Restart();
  }
  is_caught_up_ = news.caught_up;
  ReadRecords(news.lines);
  const std::string& error = malformed_.empty() ? news.error : malformed_;
  if (!error.empty()) {
    collector.SetState("trace", "lost: " + error);
    Answer(all_rejections, ErrorReply(502, "the scheduler: " + error));
  } else if (news.connected) {
    collector.SetState("trace", "connected");
    Answer(all_rejections, {.status = 204});
  }
  const std::string& pace = news.info.pace;
  collector.SetState("every", pace == "run" || pace == "pause" ? "" : pace);
  const bool reports = news.info.reports || has_reported_;
  collector.SetState("reports", reports ? "yes" : "");
  collector.SetState("allRejections", all_rejections ? "on" : "");
  return true;
}

void SchedulerSource::ReadRecords(const std::vector<std::string>& lines) {
  if (!malformed_.empty()) return;
  try {
    for (const std::string& line : lines) {
      scheduler_->ReadRecord(line, /*only_new=*/true);
    }
  } catch (const std::runtime_error& error) {
    malformed_ = error.what();
  }
}

bool SchedulerSource::IsAskedForAllRejections() {
  MutexLock lock(mu_);
  return all_rejections_;
}

void SchedulerSource::Answer(bool all_rejections, http::Reply reply) {
  LiveActions::Respond respond;
  {
    MutexLock lock(mu_);
    if (all_rejections == all_rejections_) respond.swap(respond_);
  }
  if (respond) respond(std::move(reply));
}

}  // namespace minisched::live
