#include "lab/live/access.h"

#include <fmt/format.h>

#include <boost/algorithm/string.hpp>
#include <random>

#include "lab/live/json.h"
#include "minisched/http/local.h"

namespace minisched::live {
namespace {

using http::Reply;
using http::Request;

// Takes the same time for each wrong token of the right length.
bool IsSame(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned char difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference |= a[i] ^ b[i];
  return difference == 0;
}

// Returns the value of a cookie, or "".
std::string Cookie(const Request& request, const std::string& name) {
  for (std::string& pair : http::Split(request.Header("cookie"), ';')) {
    boost::trim(pair);
    if (pair.starts_with(name + "=")) return pair.substr(name.size() + 1);
  }
  return "";
}

bool IsWrite(const Request& request) {
  return request.method != "GET" && request.method != "HEAD";
}

// A deletion may have no body, and so no type.
bool HasKnownType(const Request& request) {
  const std::string type = request.ContentType();
  return type == "application/json" || type == "application/yaml" ||
         (request.method == "DELETE" && type.empty() && request.body.empty());
}

}  // namespace

std::optional<Reply> Access::Check(const Request& request) const {
  if (!http::HasLocalHost(request)) {
    return ErrorReply(403, "Host must be localhost or 127.0.0.1");
  }
  if (!token.empty()) {
    const std::string cookie = TokenCookie(std::to_string(port));
    if (request.method == "GET" && request.path == "/" &&
        IsSame(request.Query("token"), token)) {
      return Reply{.status = 303,
                   .headers = {{"Location", "/"},
                               {"Set-Cookie", cookie + "=" + token +
                                                  "; Path=/; HttpOnly; "
                                                  "SameSite=Strict"}}};
    }
    if (!IsSame(Cookie(request, cookie), token)) {
      return ErrorReply(403,
                        "the token is missing or wrong: open the URL that the "
                        "program has logged");
    }
  }
  // Any page may link to this one. Another page could not read responses, but
  // its streams would count for kMaxStreams.
  const bool is_write = IsWrite(request);
  if (is_write
          ? !http::IsSameOrigin(request)
          : request.path.starts_with("/live/") && http::IsForeign(request)) {
    return ErrorReply(403,
                      "only the live page itself may send this request: "
                      "Sec-Fetch-Site must be same-origin or, without it, "
                      "Origin the URL of this server");
  }
  if (!is_write) return std::nullopt;
  if (!HasKnownType(request)) {
    return ErrorReply(415,
                      "Content-Type must be application/json or "
                      "application/yaml");
  }
  if (!control) {
    return ErrorReply(403,
                      "this page may only look: to change something, start "
                      "minisched-live with --control");
  }
  return std::nullopt;
}

std::string TokenCookie(std::string_view port) {
  return fmt::format("minisched-live-{}", port);
}

std::string NewToken() {
  std::random_device random;  // reads the system's generator
  std::string token;
  for (int i = 0; i < 4; ++i) token += fmt::format("{:08x}", random());
  return token;
}

std::vector<std::pair<std::string, std::string>> SecurityHeaders() {
  return {{"Content-Security-Policy",
           "default-src 'none'; script-src 'self'; style-src 'self'; "
           "connect-src 'self'; require-trusted-types-for 'script'; "
           "trusted-types 'none'; frame-ancestors 'none'"},
          {"X-Content-Type-Options", "nosniff"},
          {"Referrer-Policy", "no-referrer"}};
}

Reply ErrorReply(int status, const std::string& message) {
  return {.status = status, .body = Dump({{"error", message}})};
}

}  // namespace minisched::live
