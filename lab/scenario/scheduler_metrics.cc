#include "lab/scenario/scheduler_metrics.h"

#include <boost/asio/ip/address.hpp>
#include <chrono>
#include <regex>

#include "lab/scenario/errors.h"
#include "minisched/api/parse_error.h"
#include "minisched/client/errors.h"

namespace minisched::scenario {
namespace {

constexpr std::chrono::seconds kTimeout{10};

bool IsLoopback(const std::string& host) {
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address(host, error);
  return host == "localhost" || (!error && address.is_loopback());
}

}  // namespace

SchedulerMetrics::SchedulerMetrics(const std::string& url)
    : url_(ParseUrl(url)), transport_(Config(url_)) {}

SchedulerMetrics::Url SchedulerMetrics::ParseUrl(const std::string& url) {
  static const std::regex kUrl(
      R"((https?://(?:\[([0-9a-fA-F:.]+)\]|([^\[\]:/?#\s]+))(?::\d+)?)(/[^?#\s]*))");
  std::smatch parts;
  if (!std::regex_match(url, parts, kUrl)) {
    throw CannotPlay("--metrics " + url +
                     ": expected a URL such as http://127.0.0.1:10251/metrics");
  }
  return {.server = parts[1],
          .host = parts[2].matched ? parts[2] : parts[3],
          .path = parts[4]};
}

RestConfig SchedulerMetrics::Config(const Url& url) {
  RestConfig config;
  config.server = url.server;
  config.source = "--metrics";
  config.insecure_skip_tls_verify = IsLoopback(url.host);
  config.connect_timeout = kTimeout;
  config.request_timeout = kTimeout;
  return config;
}

std::vector<Sample> SchedulerMetrics::Read(const std::stop_token& stop) {
  const std::string what =
      "cannot read the scheduler's metrics at " + url_.server + url_.path;
  try {
    const HttpResponse response =
        transport_.Send({.method = "GET",
                         .path = url_.path,
                         .headers = {{"Accept", "text/plain;version=0.0.4"}}},
                        stop);
    if (response.status != 200) {
      throw MetricsError(what + ": HTTP status " +
                         std::to_string(response.status));
    }
    return ParseSamples(response.body);
  } catch (const TransportError& error) {
    // The message begins with the server, which `what` already contains.
    std::string why = error.what();
    if (why.starts_with(url_.server + ": ")) {
      why.erase(0, url_.server.size() + 2);
    }
    throw MetricsError(what + ": " + why);
  } catch (const ParseError& error) {
    throw MetricsError(what + ": " + error.what());
  }
}

}  // namespace minisched::scenario
