#include "minisched/client/request_text.h"

#include <stdexcept>
#include <string_view>

namespace minisched {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

// The characters that are not encoded: the first ones in a query, both kinds in
// a path. "+" is encoded, because some servers decode it to a space.
constexpr std::string_view kUnreserved =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
constexpr std::string_view kAlsoInPaths = "!$&'()*,;=:@/";

void AppendEncoded(std::string& out, const std::string& text,
                   std::string_view also = "") {
  constexpr char kHex[] = "0123456789ABCDEF";
  for (const char c : text) {
    if (kUnreserved.find(c) != std::string_view::npos ||
        also.find(c) != std::string_view::npos) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 0xf];
    }
  }
}

void AppendHeader(std::string& out, const std::string& name,
                  const std::string& value) {
  constexpr std::string_view kBreaks("\r\n\0", 3);
  if (name.find_first_of(kBreaks) != std::string::npos ||
      value.find_first_of(kBreaks) != std::string::npos) {
    // Without the value, which may be a token.
    throw std::invalid_argument("the header " + name + " has a line break");
  }
  ((out += name) += ": ") += value;
  out += kLineEnd;
}

void AppendTarget(std::string& out, const HttpRequest& request,
                  const ServerAddress& server) {
  out += server.path;
  if (!request.path.starts_with('/')) out += '/';
  AppendEncoded(out, request.path, kAlsoInPaths);
  char separator = '?';
  for (const auto& [key, value] : request.query) {
    out += std::exchange(separator, '&');
    AppendEncoded(out, key);
    out += '=';
    AppendEncoded(out, value);
  }
}

}  // namespace

std::string ToRequestText(const HttpRequest& request,
                          const ServerAddress& server) {
  std::string text = request.method + " ";
  AppendTarget(text, request, server);
  text += " HTTP/1.1\r\n";
  AppendHeader(text, "Host", server.authority);
  for (const auto& [name, value] : request.headers) {
    AppendHeader(text, name, value);
  }
  const bool has_body = request.method != "GET" && request.method != "HEAD";
  if (has_body) {
    if (!request.headers.contains("Content-Type")) {
      AppendHeader(text, "Content-Type", "application/json");
    }
    AppendHeader(text, "Content-Length", std::to_string(request.body.size()));
  }
  text += kLineEnd;
  if (has_body) text += request.body;
  return text;
}

}  // namespace minisched
