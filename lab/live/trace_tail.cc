#include "lab/live/trace_tail.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "lab/live/access.h"
#include "lab/live/json.h"
#include "minisched/base/clock.h"
#include "minisched/client/errors.h"
#include "minisched/client/rest_config.h"

namespace minisched::live {
namespace {

// The scheduler sends an empty line every 15 s.
constexpr std::chrono::seconds kSilence{60};
constexpr std::chrono::milliseconds kRetry{500};
// The reader waits while more bytes are not taken.
constexpr std::size_t kMaxBytes = 32 << 20;

RestConfig ConfigOf(const std::string& url) {
  RestConfig config;
  config.server = url;
  config.source = "--trace";
  return config;
}

// Returns the message of {"error": message}, or the whole body.
std::string ErrorOf(const HttpResponse& response) {
  const Json body = Json::parse(response.body, nullptr,
                                /*allow_exceptions=*/false);
  const std::string error = body.is_object() ? TextAt(body, "/error") : "";
  return fmt::format("{}: {}", response.status,
                     error.empty() ? response.body : error);
}

HttpRequest PostRequest(const std::string& path, const std::string& body) {
  return {.method = "POST",
          .path = path,
          .headers = {{"Content-Type", "application/json"}},
          .body = body};
}

}  // namespace

TraceTail::TraceTail(const std::string& url)
    : url_(url), transport_(ConfigOf(url)) {}

SchedulerInfo TraceTail::Ask(const std::stop_token& stop) {
  const HttpResponse response =
      transport_.Send({.method = "GET", .path = "/debug"}, stop);
  const Json json = Json::parse(response.body, nullptr,
                                /*allow_exceptions=*/false);
  if (!IsSuccess(response.status) || !json.is_object()) {
    throw std::runtime_error(
        fmt::format("{} serves no trace: {}", url_, ErrorOf(response)));
  }
  const std::string run = TextAt(json, "/run");
  SchedulerInfo info{.program = TextAt(json, "/program"),
                     .scheduler = TextAt(json, "/scheduler"),
                     .reports = json.value("reports", false),
                     .control = json.value("control", false),
                     .pace = TextAt(json, "/pace")};
  MutexLock lock(state_->mu);
  if (std::exchange(state_->run, run) != run) {
    state_->news.restarted = true;
    state_->news.caught_up = false;
    state_->news.lines.clear();
    state_->bytes = 0;
  }
  state_->news.info = info;
  return info;
}

SchedulerInfo TraceTail::AwaitInfo(std::chrono::seconds patience,
                                   const std::stop_token& stop,
                                   const std::function<void()>& on_wait) {
  const auto deadline = RealClock().Now() + patience;
  while (true) {
    try {
      return Ask(stop);
    } catch (const TransportError& error) {
      if (RealClock().Now() >= deadline) {
        throw std::runtime_error(fmt::format(
            "no scheduler serves its trace at {}: {}: start it with "
            "--metrics-port",
            url_, error.what()));
      }
    }
    if (!RealClock().SleepFor(kRetry, stop)) throw Cancelled();
    on_wait();
  }
}

void TraceTail::Start(bool all_rejections) {
  if (reader_.joinable() && all_rejections == all_rejections_) return;
  reader_ = {};
  all_rejections_ = all_rejections;
  {
    MutexLock lock(state_->mu);
    state_->news.connected = false;
  }
  reader_ = std::jthread([this, all_rejections](const std::stop_token& stop) {
    Read(all_rejections, stop);
  });
}

void TraceTail::Stop() {
  reader_ = {};
  MutexLock lock(state_->mu);
  state_->news = {.info = state_->news.info};
  state_->bytes = 0;
}

TraceTail::News TraceTail::Take() {
  MutexLock lock(state_->mu);
  News next = state_->news;
  next.restarted = false;
  next.lines.clear();
  state_->bytes = 0;
  state_->taken.NotifyAll();
  return std::exchange(state_->news, std::move(next));
}

void TraceTail::Read(bool all_rejections, const std::stop_token& stop) {
  do {
    try {
      ReadStream(all_rejections, stop);
      SetError("it has closed the connection");
    } catch (const Cancelled&) {
      return;
    } catch (const std::exception& error) {
      SetError(error.what());
    }
  } while (RealClock().SleepFor(kRetry, stop));
}

void TraceTail::ReadStream(bool all_rejections, const std::stop_token& stop) {
  Ask(stop);
  const auto stream = transport_.Open(
      {.method = "GET",
       .path = "/debug/trace",
       .query = {{"from", "oldest"},
                 {"detail", all_rejections ? "all-rejections" : "attempts"},
                 {"nodes", "none"}}},
      kSilence, stop);
  if (!IsSuccess(stream->head().status)) {
    throw std::runtime_error(ErrorOf(stream->head()));
  }
  SetError("");
  while (auto line = stream->ReadLine()) {
    MutexLock lock(state_->mu);
    while (state_->bytes > kMaxBytes && !stop.stop_requested()) {
      state_->taken.Wait(state_->mu, stop);
    }
    if (line->empty()) {
      state_->news.caught_up = true;
    } else {
      state_->bytes += line->size();
      state_->news.lines.push_back(*std::move(line));
    }
  }
}

void TraceTail::SetError(const std::string& error) {
  MutexLock lock(state_->mu);
  state_->news.connected = error.empty();
  state_->news.error = error;
}

void TraceTail::GetAttempt(const http::Request& request, Respond respond) {
  Send({.method = "GET", .path = "/debug/trace/attempts/" + request.path},
       std::move(respond));
}

void TraceTail::SetPace(const http::Request& request, Respond respond) {
  const Json body = Json::parse(request.body, nullptr,
                                /*allow_exceptions=*/false);
  std::string pace = body.is_object() ? TextAt(body, "/pace") : "";
  if (pace == "step") pace = "pause";  // after the next pod
  Send(PostRequest("/debug/pace", request.body), std::move(respond),
       [state = state_, pace] {
         MutexLock lock(state->mu);
         state->news.info.pace = pace;
       });
}

void TraceTail::EndWait(const http::Request& request, Respond respond) {
  Send(PostRequest("/debug/waiting", request.body), std::move(respond));
}

void TraceTail::Send(HttpRequest request, Respond respond,
                     std::function<void()> on_success) {
  transport_.SendAsync(
      std::make_shared<HttpRequest>(std::move(request)), {},
      [respond = std::move(respond), on_success = std::move(on_success)](
          const ClientResult<HttpResponse>& response) {
        if (!response) {
          return respond(ErrorReply(
              502, std::string("the scheduler: ") + response.error().what()));
        }
        if (IsSuccess(response->status)) on_success();
        respond({.status = response->status, .body = response->body});
      });
}

}  // namespace minisched::live
