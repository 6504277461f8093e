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

Reply PlainReply(const char* text, int status) {
  Reply reply = http::TextReply(text, status);
  reply.headers.emplace_back("X-Content-Type-Options", "nosniff");
  return reply;
}

Reply Answer(const Request& request, const MetricsText& metrics,
             const MetricsServer::OtherPaths& other,
             const HealthChecks& health) {
  if (request.path != "/metrics") {
    auto reply = health.Answer(request);
    if (!reply && other) reply = other(request);
    if (reply) return *std::move(reply);
    return PlainReply("404 page not found\n", 404);
  }
  if (request.method != "GET" && request.method != "HEAD") {
    Reply reply = PlainReply("405 method not allowed\n", 405);
    reply.headers.emplace_back("Allow", "GET, HEAD");
    return reply;
  }
  Reply reply = http::TextReply(metrics());
  reply.content_type = "text/plain; version=0.0.4; charset=utf-8";
  return reply;
}

}  // namespace

struct MetricsServer::Impl {
  http::ServerThread server;
};

MetricsServer::MetricsServer(const std::string& address, unsigned short port,
                             MetricsText metrics, OtherPaths other,
                             const HealthChecks& health)
    : impl_(new Impl{http::ServerThread(
          {.address = address, .port = port, .max_body = kMaxBody},
          [metrics = std::move(metrics), other = std::move(other),
           &health](const Request& request) {
            return Answer(request, metrics, other, health);
          })}) {}

MetricsServer::~MetricsServer() = default;

const std::string& MetricsServer::url() const { return impl_->server.url(); }

}  // namespace minisched
