#include "minisched/metrics/metrics_server.h"

#include <utility>
#include <vector>

#include "minisched/http/server_thread.h"

namespace minisched {
namespace {

using http::Reply;
using http::Request;
using Results = std::vector<HealthResult>;

// No path has a use for the body of a request.
constexpr std::size_t kMaxBody = 1 << 10;

// The check of a path without other checks.
const HealthResult kPing = {.name = "ping"};

Reply HealthReply(std::string text, int status = 200) {
  Reply reply = http::TextReply(std::move(text), status);
  reply.headers.emplace_back("X-Content-Type-Options", "nosniff");
  return reply;
}

Reply NotFound() { return HealthReply("404 page not found\n", 404); }

// Returns the reply for all checks of `path`, such as "readyz". As upstream,
// lists the checks if one has failed or if the query contains "verbose", and
// withholds the errors.
Reply AllChecks(const Request& request, const std::string& path,
                const Results& results) {
  bool failed = false;
  std::string list;
  for (const HealthResult& result : results) {
    const bool ok = result.error.empty();
    failed |= !ok;
    list += ok ? "[+]" + result.name + " ok\n"
               : "[-]" + result.name + " failed: reason withheld\n";
  }
  if (failed) return HealthReply(list + path + " check failed\n", 500);
  if (!request.query.contains("verbose")) return HealthReply("ok");
  return HealthReply(list + path + " check passed\n");
}

Reply OneCheck(const std::string& name, const Results& results) {
  for (const HealthResult& result : results) {
    if (result.name != name) continue;
    if (result.error.empty()) return HealthReply("ok");
    return HealthReply("internal server error: " + result.error + "\n", 500);
  }
  return NotFound();
}

Reply Answer(const Request& request, const Metrics& metrics,
             const Health& health) {
  // The path is /PAGE or /PAGE/CHECK.
  const std::vector<std::string> parts = http::Split(request.path, '/');
  const std::string& page = parts.at(1);
  const bool is_readyz = page == "readyz";
  const bool is_health = is_readyz || page == "healthz" || page == "livez";
  const bool is_metrics = request.path == "/metrics";
  if (!is_metrics && (!is_health || parts.size() > 3)) return NotFound();
  if (request.method != "GET" && request.method != "HEAD") {
    Reply reply = HealthReply("405 method not allowed\n", 405);
    reply.headers.emplace_back("Allow", "GET, HEAD");
    return reply;
  }
  if (is_metrics) {
    Reply reply = http::TextReply(metrics.Text());
    reply.content_type = "text/plain; version=0.0.4; charset=utf-8";
    return reply;
  }
  Results results = is_readyz ? health.CheckReadyz() : Results{};
  if (results.empty()) results.push_back(kPing);
  return parts.size() == 3 ? OneCheck(parts[2], results)
                           : AllChecks(request, page, results);
}

}  // namespace

struct MetricsServer::Impl {
  http::ServerThread server;
};

MetricsServer::MetricsServer(unsigned short port, const Metrics& metrics,
                             const Health& health)
    : impl_(new Impl{
          http::ServerThread({.port = port, .max_body = kMaxBody},
                             [&metrics, &health](const Request& request) {
                               return Answer(request, metrics, health);
                             })}) {}

MetricsServer::~MetricsServer() = default;

const std::string& MetricsServer::url() const { return impl_->server.url(); }

}  // namespace minisched
