#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <string>
#include <string_view>

#include "lab/apiserver/schema/schema.h"
#include "minisched/api/parse_error.h"
#include "minisched/api/quantity.h"
#include "minisched/api/time.h"

// Reproduces the effect of reading JSON into a Go struct and writing it again,
// with sigs.k8s.io/json and encoding/json.

namespace minisched::apiserver {
namespace {

using Kind = SchemaField::Kind;

// The most unknown fields that Normalize() reports, as upstream.
constexpr std::size_t kMaxUnknown = 100;

// Returns the value that a field of this kind has in Go if JSON has null or no
// value.
Json ZeroOf(Kind kind) {
  switch (kind) {
    case Kind::kString:
    case Kind::kBytes:
      return "";
    case Kind::kBool:
      return false;
    case Kind::kInt32:
    case Kind::kInt64:
    case Kind::kIntOrString:
      return 0;
    case Kind::kQuantity:
      return "0";
    case Kind::kStruct:
      return Json::object();
    default:
      return nullptr;
  }
}

// True if Go does not write a field with this value.
bool IsOmitted(const Json& value, const SchemaField& field) {
  if (field.always) return false;
  if (field.optional || value.is_null()) return value.is_null();
  if (value.is_structured()) return value.empty();
  if (value.is_string()) return GetString(value).empty();
  return value == ZeroOf(field.kind);
}

class Normalizer {
 public:
  void Object(Json& object, const SchemaType& type) {
    Expect(object.is_object(), object, "object");
    for (auto member = object.begin(); member != object.end();) {
      const SchemaField* field = type.Find(member.key());
      At("." + member.key(), [&] {
        if (field != nullptr) return Field(*member, *field);
        if (unknown.size() >= kMaxUnknown) return;
        unknown.push_back("unknown field " + Dump(path()));
      });
      const bool omit = field == nullptr || IsOmitted(*member, *field);
      member = omit ? object.erase(member) : std::next(member);
    }
    for (const SchemaField& field : type.fields) {
      if (!field.always || object.contains(field.name)) continue;
      Field(object[field.name], field);
    }
  }

  std::vector<std::string> unknown;

 private:
  void Field(Json& value, const SchemaField& field) {
    if (!field.list && !field.map) {
      if (value.is_null() && !field.optional) value = ZeroOf(field.kind);
      return Value(value, field);
    }
    if (value.is_null()) return;
    Expect(field.list ? value.is_array() : value.is_object(), value,
           field.list ? "array" : "object");
    int index = 0;
    for (auto element = value.begin(); element != value.end(); ++element) {
      if (element->is_null()) *element = ZeroOf(field.kind);
      At(field.list ? fmt::format("[{}]", index++) : "." + element.key(),
         [&] { Value(*element, field); });
    }
    // Upstream stores protobuf, in which an empty list or map is absent.
    if (value.empty()) value = nullptr;
  }

  void Value(Json& value, const SchemaField& field) {
    if (value.is_null()) return;
    switch (field.kind) {
      case Kind::kString:
        return Expect(value.is_string(), value, "string");
      case Kind::kBytes:
        return Base64(value);
      case Kind::kBool:
        return Expect(value.is_boolean(), value, "bool");
      case Kind::kInt32:
      case Kind::kInt64:
        return Integer(value, field.kind == Kind::kInt64);
      case Kind::kIntOrString:
        return value.is_string() ? void() : Integer(value, false);
      case Kind::kQuantity:
        return Amount(value, field);
      case Kind::kTime:
      case Kind::kMicroTime:
        return Instant(value, field.kind == Kind::kMicroTime);
      case Kind::kStruct:
        return Object(value, *field.type);
      case Kind::kAny:
        return;
    }
  }

  void Base64(Json& value) {
    Expect(value.is_string(), value, "[]uint8");
    auto& text = value.get_ref<std::string&>();
    std::erase_if(text, [](char c) { return c == '\r' || c == '\n'; });
    const std::string data = text.substr(0, text.find_last_not_of('=') + 1);
    const auto is_digit = [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '+' || c == '/';
    };
    if (text.size() % 4 == 0 && text.size() - data.size() <= 2 &&
        std::ranges::all_of(data, is_digit)) {
      return;
    }
    // The text may be a password: leave it out of the message.
    throw ParseError("illegal base64 data in " + path());
  }

  void Integer(const Json& value, bool wide) {
    using Int32 = std::numeric_limits<std::int32_t>;
    const char* const type = wide ? "int64" : "int32";
    Expect(value.is_number_integer(), value, type);
    // The library keeps a number beyond int64 as unsigned. As an int64, it is
    // negative.
    const auto number = value.get<std::int64_t>();
    Expect(number >= 0 || !value.is_number_unsigned(), value, type);
    Expect(wide || (Int32::min() <= number && number <= Int32::max()), value,
           type);
  }

  void Amount(Json& value, const SchemaField& field) {
    Expect(value.is_string() || value.is_number(), value, "quantity");
    try {
      auto quantity = Quantity::Parse(
          value.is_string() ? value.get<std::string>() : value.dump());
      // All maps of quantities are ResourceLists. Their quantities are rounded
      // to thousandths, away from zero.
      if (field.map) {
        quantity =
            Quantity::FromMilli(quantity.MilliValue(), quantity.format());
      }
      value = quantity.ToString();
    } catch (const ParseError& error) {
      // Drop the text of the quantity from the message.
      const std::string what = error.what();
      throw ParseError(what.substr(what.rfind("\": ") + 3));
    }
  }

  void Instant(Json& value, bool micro) {
    Expect(value.is_string(), value, "string");
    const std::string text = value;
    // "2006-01-02T15:04:05" has 19 bytes. In a MicroTime, a point and exactly
    // six digits follow.
    const bool precise = text.find_first_not_of(".0123456789", 19) == 19 + 7;
    try {
      const Time time = ParseTime(text);
      if (micro && !precise) throw ParseError(text);
      value = micro ? FormatMicroTime(time) : FormatTime(time);
    } catch (const ParseError&) {
      throw ParseError(fmt::format(
          "parsing time {} as \"2006-01-02T15:04:05{}Z07:00\": cannot parse {}",
          Dump(text), micro ? ".000000" : "", path()));
    }
  }

  // Throws the error that `value` is not of type `what`, unless `matches`. Only
  // an error about an integer has the value: other values may be secret.
  void Expect(bool matches, const Json& value, std::string_view what) {
    if (matches) return;
    throw ParseError(fmt::format("json: cannot unmarshal {} into {} of type {}",
                                 value.is_number() && what.starts_with("int")
                                     ? "number " + value.dump()
                                     : value.type_name(),
                                 path_.empty() ? "value" : path(), what));
  }

  // Calls `visit` while path_ also has `step`, which is ".name" for a member
  // and "[0]" for an element.
  template <class Visit>
  void At(const std::string& step, const Visit& visit) {
    const std::size_t here = path_.size();
    path_ += step;
    visit();
    path_.resize(here);
  }
  std::string path() const { return path_.substr(1); }

  std::string path_;  // ".spec.containers[0].name"
};

}  // namespace

std::vector<std::string> Normalize(Json& object, const SchemaType& type) {
  Normalizer normalizer;
  normalizer.Object(object, type);
  // This server does not track field managers.
  if (const auto metadata = object.find("metadata"); metadata != object.end()) {
    metadata->erase("managedFields");
  }
  return normalizer.unknown;
}

}  // namespace minisched::apiserver
