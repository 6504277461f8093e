#include "minisched/http/local.h"

#include <boost/algorithm/string.hpp>

namespace minisched::http {

std::string WithoutPort(std::string host) {
  const auto colon = host.rfind(':');
  if (colon != host.npos && host.find(']', colon) == host.npos) {
    host.resize(colon);
  }
  return host;
}

bool HasLocalHost(const Request& request) {
  const std::string host = WithoutPort(request.Header("host"));
  return boost::iequals(host, "localhost") || host == "127.0.0.1" ||
         host == "[::1]";
}

bool IsSameOrigin(const Request& request) {
  if (request.headers.contains("sec-fetch-site")) {
    return request.Header("sec-fetch-site") == "same-origin";
  }
  return request.Header("origin") == "http://" + request.Header("host");
}

bool IsForeign(const Request& request) {
  const std::string site = request.Header("sec-fetch-site");
  if (!site.empty()) return site != "same-origin" && site != "none";
  return request.headers.contains("origin") && !IsSameOrigin(request);
}

}  // namespace minisched::http
