#include "minisched/apiserver/http.h"

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

std::string Request::Header(const std::string& name) const {
  return Find(headers, name);
}

std::string Request::Query(const std::string& name) const {
  return Find(query, name);
}

bool ParseTarget(std::string_view target, Request& request) {
  const auto mark = target.find('?');
  const auto path = Decode(target.substr(0, mark), false);
  if (!path || !path->starts_with('/')) return false;
  request.path = *path;
  if (mark == target.npos) return true;

  std::vector<std::string> pairs;
  const std::string query(target.substr(mark + 1));
  boost::split(pairs, query, [](char c) { return c == '&'; });
  for (const std::string_view pair : pairs) {
    const auto equals = pair.find('=');
    const auto key = Decode(pair.substr(0, equals), true);
    const auto value =
        Decode(equals == pair.npos ? "" : pair.substr(equals + 1), true);
    if (!key || !value) return false;
    if (!key->empty()) request.query.emplace(*key, *value);
  }
  return true;
}

std::vector<MediaType> ParseMediaTypes(std::string_view header) {
  std::vector<MediaType> types;
  std::vector<std::string> ranges;
  boost::split(ranges, header, [](char c) { return c == ','; });
  for (const std::string& range : ranges) {
    std::vector<std::string> parts;
    boost::split(parts, range, [](char c) { return c == ';'; });
    MediaType type;
    type.type = boost::to_lower_copy(boost::trim_copy(parts[0]));
    if (type.type.empty()) continue;
    for (std::size_t i = 1; i < parts.size(); ++i) {
      const auto equals = parts[i].find('=');
      if (equals == std::string::npos) continue;
      type.parameters[boost::trim_copy(parts[i].substr(0, equals))] =
          boost::trim_copy(parts[i].substr(equals + 1));
    }
    types.push_back(std::move(type));
  }
  return types;
}

}  // namespace minisched::apiserver
