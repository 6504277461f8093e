#include "minisched/apiserver/http/http.h"

#include <boost/algorithm/string.hpp>
#include <charconv>

namespace minisched::apiserver {
namespace {

std::string Find(const std::map<std::string, std::string>& all,
                 const std::string& name) {
  const auto found = all.find(name);
  return found == all.end() ? std::string() : found->second;
}

// Of application/x-www-form-urlencoded where `plus_is_space`.
std::optional<std::string> Decode(std::string_view text, bool plus_is_space) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      if (text.size() - i < 3) return std::nullopt;
      unsigned char byte = 0;
      const char* const digits = text.data() + i + 1;
      const auto result = std::from_chars(digits, digits + 2, byte, 16);
      if (result.ptr != digits + 2) return std::nullopt;
      decoded += static_cast<char>(byte);
      i += 2;
    } else {
      decoded += plus_is_space && text[i] == '+' ? ' ' : text[i];
    }
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

std::string Request::ContentType() const {
  const auto types = ParseMediaTypes(Header("content-type"));
  return types.empty() ? std::string() : types.front().type;
}

Reply JsonReply(const Json& document, int status) {
  // It ends as Go's encoder ends what it writes.
  return {.status = status, .body = Dump(document) + "\n"};
}

Reply TextReply(std::string text, int status) {
  return {.status = status,
          .content_type = "text/plain; charset=utf-8",
          .body = std::move(text)};
}

bool ParseTarget(std::string_view target, Request& request) {
  const auto mark = target.find('?');
  const auto path = Decode(target.substr(0, mark), false);
  if (!path || !path->starts_with('/')) return false;
  request.path = *path;
  if (mark == target.npos) return true;

  for (const std::string& pair : Split(target.substr(mark + 1), '&')) {
    const auto equals = std::min(pair.find('='), pair.size());
    const auto key = Decode(pair.substr(0, equals), true);
    const auto value = Decode(
        boost::erase_head_copy(pair, static_cast<int>(equals) + 1), true);
    if (!key || !value) return false;
    if (!key->empty()) request.query.emplace(*key, *value);
  }
  return true;
}

std::vector<MediaType> ParseMediaTypes(std::string_view header) {
  std::vector<MediaType> types;
  for (const std::string& range : Split(header, ',')) {
    const auto parts = Split(range, ';');
    MediaType type;
    type.type = boost::to_lower_copy(boost::trim_copy(parts[0]));
    if (type.type.empty()) continue;
    for (const std::string& part : parts) {
      const auto equals = part.find('=');
      if (equals == std::string::npos) continue;
      type.parameters[boost::trim_copy(part.substr(0, equals))] =
          boost::trim_copy(part.substr(equals + 1));
    }
    types.push_back(std::move(type));
  }
  return types;
}

}  // namespace minisched::apiserver
