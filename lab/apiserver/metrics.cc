#include "lab/apiserver/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <boost/algorithm/string.hpp>
#include <set>
#include <utility>

namespace minisched::apiserver {
namespace {

// The most User-Agents that are counted separately. The others count as
// "other".
constexpr std::size_t kMaxUserAgents = 200;

const prometheus::Histogram::BucketBoundaries kSeconds = {
    0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2,
    3,     4,     5,    6,   8,   10,  15,  20,  30,  45,   60};

std::string ScopeOf(const RequestInfo& info) {
  if (!info.name.empty()) return "resource";
  return info.ns.empty() ? "cluster" : "namespace";
}

}  // namespace

struct Metrics::Families {
  prometheus::Registry registry;
  prometheus::Family<prometheus::Counter>& requests =
      prometheus::BuildCounter()
          .Name("apiserver_request_total")
          .Help("Requests for resources, by verb, resource and code")
          .Register(registry);
  prometheus::Family<prometheus::Histogram>& durations =
      prometheus::BuildHistogram()
          .Name("apiserver_request_duration_seconds")
          .Help("Latency of requests other than watches, in seconds")
          .Register(registry);
  prometheus::Family<prometheus::Counter>& clients =
      prometheus::BuildCounter()
          .Name("minisched_client_requests_total")
          .Help("Requests for resources, by User-Agent, verb and resource")
          .Register(registry);
  std::set<std::string> user_agents;
};

Metrics::Metrics() : families_(std::make_unique<Families>()) {}
Metrics::~Metrics() = default;

void Metrics::Count(const Request& request, const RequestInfo& info, int code,
                    std::chrono::duration<double> seconds) {
  Families& all = *families_;
  std::map<std::string, std::string> labels = {
      {"verb", boost::to_upper_copy(info.verb)},
      {"group", info.row->group},
      {"version", info.row->version},
      {"resource", info.row->plural},
      {"subresource", info.subresource},
      {"scope", ScopeOf(info)}};
  if (info.verb != "watch") {
    all.durations.Add(labels, kSeconds).Observe(seconds.count());
  }
  labels["code"] = std::to_string(code);
  all.requests.Add(labels).Increment();

  std::string agent = request.Header("user-agent");
  if (all.user_agents.size() < kMaxUserAgents) {
    all.user_agents.insert(agent);
  } else if (!all.user_agents.contains(agent)) {
    agent = "other";
  }
  all.clients
      .Add({{"user_agent", agent},
            {"verb", labels["verb"]},
            {"resource", info.row->plural},
            {"subresource", info.subresource}})
      .Increment();
}

std::string Metrics::Text() const {
  return prometheus::TextSerializer().Serialize(families_->registry.Collect());
}

Json Metrics::Clients() const {
  Json items = Json::array();
  for (const auto& family : families_->clients.Collect()) {
    for (const auto& metric : family.metric) {
      std::map<std::string, std::string> labels;
      for (const auto& label : metric.label) labels[label.name] = label.value;
      items.push_back(
          {{"userAgent", labels["user_agent"]},
           {"verb", boost::to_lower_copy(labels["verb"])},
           {"resource", labels["resource"]},
           {"subresource", labels["subresource"]},
           {"count", static_cast<std::uint64_t>(metric.counter.value)}});
    }
  }
  return items;
}

}  // namespace minisched::apiserver
