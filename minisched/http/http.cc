#include "minisched/http/http.h"

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <charconv>
#include <optional>

namespace minisched::http {
namespace {

std::string Find(const std::map<std::string, std::string>& all,
                 const std::string& name) {
  const auto found = all.find(name);
  return found == all.end() ? std::string() : found->second;
}

std::optional<std::string> PercentDecode(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    const std::string_view digits = text.substr(i + 1, 2);
    unsigned char byte = 0;
    const char* const end = digits.data() + digits.size();
    const auto result = std::from_chars(digits.data(), end, byte, 16);
    if (digits.size() < 2 || result.ptr != end) return std::nullopt;
    decoded += static_cast<char>(byte);
    i += 2;
  }
  return decoded;
}

}  // namespace

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  boost::split(parts, text, [=](char c) { return c == separator; });
  return parts;
}

std::string Request::Header(const std::string& name) const {
  return Find(headers, name);
}

std::string Request::Query(const std::string& name) const {
  return Find(query, name);
}

std::vector<std::string> Request::QueryAll(const std::string& name) const {
  std::vector<std::string> values;
  if (query.contains(name)) values.push_back(query.at(name));
  const auto [begin, end] = repeated_query.equal_range(name);
  for (auto it = begin; it != end; ++it) values.push_back(it->second);
  return values;
}

std::string Request::ContentType() const {
  const std::string header = Header("content-type");
  return boost::to_lower_copy(
      boost::trim_copy(header.substr(0, header.find(';'))));
}

Reply TextReply(std::string text, int status) {
  return {.status = status,
          .content_type = "text/plain; charset=utf-8",
          .body = std::move(text)};
}

bool ParseTarget(std::string_view target, Request& request) {
  const auto mark = std::min(target.find('?'), target.size());
  const auto path = PercentDecode(target.substr(0, mark));
  if (!path || !path->starts_with('/')) return false;
  request.path = *path;
  std::string query(target.substr(std::min(mark + 1, target.size())));
  boost::replace_all(query, "+", " ");
  for (const std::string& pair : Split(query, '&')) {
    const auto equals = std::min(pair.find('='), pair.size());
    const auto key = PercentDecode(pair.substr(0, equals));
    const auto value =
        PercentDecode(pair.substr(std::min(equals + 1, pair.size())));
    if (!key || !value) return false;
    if (key->empty()) continue;
    if (!request.query.emplace(*key, *value).second) {
      request.repeated_query.emplace(*key, *value);
    }
  }
  return true;
}

}  // namespace minisched::http
