#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "minisched/http/http_testing.h"

// Helpers for the tests of the live page.

namespace minisched::live {

// Returns the URL of a server without the path of the page.
inline std::string Origin(const std::string& page_url) {
  return page_url.substr(0, page_url.find('/', 7));
}

// Sends a request with these headers, and returns the whole response. A value
// of "" leaves a header out. Host is "127.0.0.1" unless given.
inline std::string Fetch(const std::string& page_url, const std::string& method,
                         const std::string& target,
                         std::map<std::string, std::string> headers = {},
                         const std::string& body = "") {
  headers.emplace("Host", "127.0.0.1");
  std::string request = method + " " + target + " HTTP/1.1\r\n";
  for (const auto& [name, value] : headers) {
    if (!value.empty()) request += name + ": " + value + "\r\n";
  }
  if (!body.empty()) {
    request += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  }
  return http::Exchange(Origin(page_url),
                        request + "Connection: close\r\n\r\n" + body);
}

// Sends a JSON body as the page does.
inline std::string PostJson(const std::string& page_url,
                            const std::string& target,
                            const std::string& body) {
  return Fetch(
      page_url, "POST", target,
      {{"Sec-Fetch-Site", "same-origin"}, {"Content-Type", "application/json"}},
      body);
}

inline std::string BodyOf(const std::string& response) {
  return response.substr(response.find("\r\n\r\n") + 4);
}

// One server-sent event.
struct SentEvent {
  std::string type;
  std::string id;
  std::string data;
};

inline std::string Line(std::string_view text, std::string_view name) {
  const auto start = text.find(name);
  if (start == text.npos) return "";
  const auto end = text.find('\n', start);
  return std::string(
      text.substr(start + name.size(), end - start - name.size()));
}

// Splits the text of a stream into events. Leaves comments out.
inline std::vector<SentEvent> ParseEvents(std::string_view text) {
  std::vector<SentEvent> events;
  while (!text.empty()) {
    const auto end = text.find("\n\n");
    if (end == text.npos) break;
    const std::string_view part = text.substr(0, end + 1);
    if (!part.starts_with(':')) {
      events.push_back(
          {Line(part, "event: "), Line(part, "id: "), Line(part, "data: ")});
    }
    text.remove_prefix(end + 2);
  }
  return events;
}

// A page that is connected to a server, and reads its events.
class StreamReader {
 public:
  explicit StreamReader(const std::string& page_url,
                        const std::string& headers = "")
      : socket_(http::Connect(io_, Origin(page_url))) {
    http::Send(socket_, "GET /live/events HTTP/1.1\r\nHost: localhost\r\n" +
                            headers + "\r\n");
  }

  // Returns all text so far. Blocks until it contains `end`.
  const std::string& ReadUntil(const std::string& end) {
    while (text_.find(end) == text_.npos) {
      std::string part(4096, '\0');
      part.resize(socket_.read_some(http::asio::buffer(part)));
      text_ += part;
    }
    return text_;
  }

 private:
  http::asio::io_context io_;
  http::asio::ip::tcp::socket socket_;
  std::string text_;
};

}  // namespace minisched::live
