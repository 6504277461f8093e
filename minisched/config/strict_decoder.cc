#include "minisched/config/strict_decoder.h"

#include <cmath>
#include <limits>

#include "minisched/api/duration.h"
#include "minisched/api/parse_error.h"
#include "minisched/config/suggest.h"

namespace minisched {
namespace {

template <class Int>
void DecodeInt(const DecodedValue& value, Int& out) {
  using Limits = std::numeric_limits<Int>;
  const nlohmann::json& json = value.json;
  if (!json.is_number_integer()) return value.FailType("a whole number");
  const bool fits =
      json.is_number_unsigned()
          ? std::cmp_less_equal(json.get<std::uint64_t>(), Limits::max())
          : std::cmp_greater_equal(json.get<std::int64_t>(), Limits::min());
  if (!fits) return value.Fail("the number " + json.dump() + " does not fit");
  out = json.get<Int>();
}

}  // namespace

void DecodedValue::FailType(std::string_view expected) const {
  std::string found = json.is_array()    ? "a list"
                      : json.is_object() ? "an object"
                      : json.is_string() ? Quoted(json.get<std::string>())
                                         : json.dump();
  Fail(std::string(expected) + " is expected, not " + found);
}

void Decode(const DecodedValue& value, std::string& out) {
  if (!value.json.is_string()) return value.FailType("a string");
  out = value.json.get<std::string>();
}

void Decode(const DecodedValue& value, bool& out) {
  if (!value.json.is_boolean()) return value.FailType("true or false");
  out = value.json.get<bool>();
}

void Decode(const DecodedValue& value, std::int32_t& out) {
  DecodeInt(value, out);
}

void Decode(const DecodedValue& value, std::int64_t& out) {
  DecodeInt(value, out);
}

void Decode(const DecodedValue& value, float& out) {
  if (!value.json.is_number()) return value.FailType("a number");
  const auto number = value.json.get<double>();
  if (std::abs(number) > std::numeric_limits<float>::max()) {
    return value.Fail("the number " + value.json.dump() + " does not fit");
  }
  out = static_cast<float>(number);
}

void Decode(const DecodedValue& value, std::chrono::nanoseconds& out) {
  if (!value.json.is_string()) return value.FailType("a duration such as 15s");
  try {
    out = ParseDuration(value.json.get<std::string>());
  } catch (const ParseError& error) {
    value.Fail(error.what());
  }
}

FieldDecoder::FieldDecoder(const DecodedValue& value) : value_(value) {
  if (!value.json.is_object()) value.FailType("an object");
}

const nlohmann::json* FieldDecoder::Find(std::string_view key) {
  known_.emplace(key);
  const auto member = value_.json.find(key);
  return member == value_.json.end() ? nullptr : &*member;
}

void FieldDecoder::CheckUnknown() const {
  if (!value_.json.is_object()) return;
  for (const auto& [key, member] : value_.json.items()) {
    if (known_.contains(key)) continue;
    value_.Member(key, member).Fail("unknown field" + Suggest(key, known_));
  }
}

}  // namespace minisched
