#include "lab/live/live_server.h"

#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <map>
#include <set>
#include <string_view>
#include <thread>
#include <utility>

#include "lab/live/access.h"
#include "lab/live/event_stream.h"
#include "lab/live/json.h"
#include "lab/live/page.h"
#include "minisched/api/parse_error.h"
#include "minisched/api/time.h"
#include "minisched/base/log.h"
#include "minisched/http/http_server.h"

namespace minisched::live {
namespace {

namespace asio = boost::asio;
using http::Reply;
using http::Request;
using HttpRespond = http::HttpServer::Respond;

constexpr std::chrono::milliseconds kTick{50};
constexpr std::string_view kApiPath = "/live/api";
constexpr std::string_view kAttemptsPath = "/live/attempts/";

Reply FileReply(const Request& request, std::string_view type,
                std::string_view text) {
  const std::string tag =
      fmt::format("\"{:x}\"", std::hash<std::string_view>()(text));
  Reply reply{.content_type = std::string(type), .headers = {{"ETag", tag}}};
  if (request.Header("if-none-match") == tag) {
    reply.status = 304;
  } else {
    reply.body = text;
  }
  return reply;
}

Reply NotFound(const Request& request) {
  return ErrorReply(404, Quoted(request.path) + " is not part of this page");
}

}  // namespace

struct LiveServer::Impl {
  Impl(LiveOptions live_options, const History& shown, LiveActions live_actions,
       Clock& live_clock)
      : options(std::move(live_options)),
        history(shown),
        actions(std::move(live_actions)),
        clock(live_clock),
        server(*io, ServerOptions(),
               [this](Request request, const HttpRespond& respond) {
                 Handle(std::move(request), respond);
               }),
        url(server.url()),
        access{.token = options.token,
               .control = options.control,
               .port = static_cast<unsigned short>(
                   std::stoi(url.substr(url.rfind(':') + 1)))},
        page_url(url + "/" + (options.token.empty() ? "" : "?token=") +
                 options.token),
        thread([this] { Run(); }) {}
  ~Impl() { io->stop(); }

  http::HttpServerOptions ServerOptions() const {
    return {.port = options.port,
            .max_connections = kMaxConnections,
            .headers = SecurityHeaders(),
            .error_reply = ErrorReply};
  }

  void Run() {
    while (!io->stopped()) {
      try {
        io->run();
      } catch (const std::exception& error) {
        spdlog::error("internal error of {}, continuing: {}", url,
                      error.what());
      }
    }
  }

  void Handle(Request request, const HttpRespond& respond) {
    if (auto reply = access.Check(request)) return respond(*std::move(reply));
    if (request.path.starts_with(kApiPath)) {
      request.path.erase(0, kApiPath.size());
      return Pass(actions.api, std::move(request), respond);
    }
    if (request.method == "GET" && request.path.starts_with(kAttemptsPath)) {
      request.path.erase(0, kAttemptsPath.size());
      return Pass(actions.attempt, std::move(request), respond);
    }
    const std::string route = request.method + " " + request.path;
    const auto exchange = exchanges.find(route);
    if (exchange != exchanges.end()) {
      return Pass(exchange->second, std::move(request), respond);
    }
    respond(request.method == "GET" ? Get(request) : NotFound(request));
  }

  // Lets an action answer, on any thread.
  void Pass(const LiveActions::Exchange& exchange, Request request,
            const HttpRespond& respond) {
    if (!exchange) return respond(NotFound(request));
    exchange(
        std::move(request), [weak = std::weak_ptr(io), respond](Reply reply) {
          const auto loop = weak.lock();
          if (!loop) return;
          // Shared, because a handler of the loop must be copyable.
          const auto shared = std::make_shared<Reply>(std::move(reply));
          asio::post(*loop, [respond, shared] { respond(std::move(*shared)); });
        });
  }

  Reply Get(const Request& request) {
    if (request.path == "/") {
      return FileReply(request, "text/html; charset=utf-8", kIndexHtml);
    }
    if (request.path == "/live.js") {
      return FileReply(request, "text/javascript; charset=utf-8", kScript);
    }
    if (request.path == "/live.css") {
      return FileReply(request, "text/css; charset=utf-8", kStyle);
    }
    if (request.path == "/live/events") return OpenStream(request);
    return NotFound(request);
  }

  Reply OpenStream(const Request& request) {
    if (streams.size() >= kMaxStreams) {
      return ErrorReply(503, fmt::format("{} pages are already connected: "
                                         "close one of them",
                                         kMaxStreams));
    }
    auto stream = std::make_unique<EventStream>(
        history,
        EventStream::Options{
            .boot = boot,
            .last_id = request.Header("last-event-id"),
            .start = [this] { return StartData(); },
            .on_end = [this](EventStream* ended) { streams.erase(ended); }},
        clock);
    streams.insert(stream.get());
    if (!ticking) Tick();
    return {.content_type = "text/event-stream", .stream = std::move(stream)};
  }

  std::string StartData() const {
    Json start = {{"time", FormatMicroTime(clock.WallNow())},
                  {"program", options.program},
                  {"scheduler", options.scheduler},
                  {"source", options.source},
                  {"recording", options.recording},
                  {"control", options.control},
                  {"pace", actions.pace != nullptr},
                  {"waiting", actions.end_wait != nullptr},
                  {"allRejections", actions.all_rejections != nullptr},
                  {"api", actions.api != nullptr},
                  {"export", actions.export_objects != nullptr},
                  {"reset", actions.reset != nullptr},
                  {"config", actions.config != nullptr}};
    if (options.moment) start["moment"] = *options.moment;
    return Dump(start);
  }

  // Lets the action collect, wakes the streams, and schedules the next tick. If
  // this throws, the next page starts the ticks again.
  void Tick() {
    ticking = false;
    const bool more = actions.collect && actions.collect(streams.size());
    for (EventStream* stream : streams) stream->Wake();
    ticking = more || !streams.empty();
    if (!ticking) return;
    timer.expires_after(kTick);
    timer.async_wait([this](boost::system::error_code aborted) {
      if (!aborted) Tick();
    });
  }

  const LiveOptions options;
  const History& history;
  const LiveActions actions;
  const std::map<std::string, LiveActions::Exchange> exchanges = {
      {"POST /live/pace", actions.pace},
      {"POST /live/waiting", actions.end_wait},
      {"POST /live/all-rejections", actions.all_rejections},
      {"GET /live/export", actions.export_objects},
      {"POST /live/import", actions.import_objects},
      {"POST /live/reset", actions.reset},
      {"GET /live/config", actions.config},
      {"PUT /live/config", actions.config}};
  Clock& clock;
  const std::string boot = NewToken().substr(0, 8);
  // Shared with responses under way.
  const std::shared_ptr<asio::io_context> io =
      std::make_shared<asio::io_context>(1);
  asio::steady_timer timer{*io};
  bool ticking = false;
  std::set<EventStream*> streams;
  http::HttpServer server;
  const std::string url;
  const Access access;
  const std::string page_url;
  std::jthread thread;  // last: it uses the others
};

Reply AttemptReply(const std::string& name, std::optional<std::string> record) {
  if (record) return {.body = *std::move(record)};
  return ErrorReply(404, "there is no attempt " + Quoted(name) +
                             ", or it is too old: only the newest ones are "
                             "kept");
}

LiveServer::LiveServer(LiveOptions options, const History& history,
                       LiveActions actions, Clock& clock)
    : impl_(std::make_unique<Impl>(std::move(options), history,
                                   std::move(actions), clock)) {}

LiveServer::~LiveServer() = default;

const std::string& LiveServer::url() const { return impl_->page_url; }

}  // namespace minisched::live
