#include "minisched/metrics/metrics_server.h"

#include <utility>

#include "minisched/http/server_thread.h"

namespace minisched {
namespace {

using http::Reply;
using http::Request;
using MetricsText = std::function<std::string()>;

// The paths need little of a request's body.
constexpr std::size_t kMaxBody = 1 << 10;

Reply PlainReply(const char* text, int status = 200) {
  Reply reply = http::TextReply(text, status);
  reply.headers.emplace_back("X-Content-Type-Options", "nosniff");
  return reply;
}

Reply Answer(const Request& request, const MetricsText& metrics,
             const MetricsServer::OtherPaths& other) {
  const bool is_metrics = request.path == "/metrics";
  const bool is_health = request.path == "/healthz" || request.path == "/livez";
  if (!is_metrics && !is_health) {
    auto reply = other ? other(request) : std::nullopt;
    if (reply) return *std::move(reply);
    return PlainReply("404 page not found\n", 404);
  }
  if (request.method != "GET" && request.method != "HEAD") {
    Reply reply = PlainReply("405 method not allowed\n", 405);
    reply.headers.emplace_back("Allow", "GET, HEAD");
    return reply;
  }
  if (is_health) return PlainReply("ok");
  Reply reply = http::TextReply(metrics());
  reply.content_type = "text/plain; version=0.0.4; charset=utf-8";
  return reply;
}

}  // namespace

struct MetricsServer::Impl {
  http::ServerThread server;
};

MetricsServer::MetricsServer(const std::string& address, unsigned short port,
                             MetricsText metrics, OtherPaths other)
    : impl_(new Impl{http::ServerThread(
          {.address = address, .port = port, .max_body = kMaxBody},
          [metrics = std::move(metrics),
           other = std::move(other)](const Request& request) {
            return Answer(request, metrics, other);
          })}) {}

MetricsServer::~MetricsServer() = default;

const std::string& MetricsServer::url() const { return impl_->server.url(); }

}  // namespace minisched
