#include "minisched/api/json.h"

#include <limits>

#include "minisched/api/codec.h"
#include "minisched/api/json_path.h"
#include "minisched/base/printable.h"

namespace minisched {
namespace {

// Returns why a document isn't JSON, without the library's prefix
// "[json.exception.parse_error.101] ". The library quotes a part of the
// document, which may be long and not be UTF-8.
std::string Reason(const nlohmann::json::exception& error) {
  constexpr std::size_t kMaxBytes = 300;
  const std::string_view message = error.what();
  const std::size_t at = message.find("] ");
  const std::string_view reason =
      at == std::string_view::npos ? message : message.substr(at + 2);
  return Printable(reason.substr(0, kMaxBytes)) +
         (reason.size() > kMaxBytes ? "..." : "");
}

template <class Int>
void ReadInt(const JsonPlace& place, Int& out) {
  const nlohmann::json& value = place.value();
  if (!value.is_number_integer()) place.FailType("a whole number");
  const bool fits =
      value.is_number_unsigned()
          ? value.get<std::uint64_t>() <=
                static_cast<std::uint64_t>(std::numeric_limits<Int>::max())
          : value.get<std::int64_t>() >= std::numeric_limits<Int>::min() &&
                value.get<std::int64_t>() <= std::numeric_limits<Int>::max();
  if (!fits) place.Fail("the number " + value.dump() + " does not fit");
  out = value.get<Int>();
}

}  // namespace

const nlohmann::json* JsonPlace::Find(std::string_view key) const {
  const auto member = value_.find(key);
  if (member == value_.end() || member->is_null()) return nullptr;
  return &*member;
}

std::string JsonPlace::Path() const {
  if (parent_ == nullptr) return "";
  const bool is_element = parent_->value_.is_array();
  return is_element ? ElementPath(parent_->Path(), index_)
                    : MemberPath(parent_->Path(), key_);
}

void JsonPlace::Fail(const std::string& message) const {
  const std::string path = Path();
  throw ParseError(path.empty() ? message : path + ": " + message);
}

void JsonPlace::FailType(std::string_view expected) const {
  Fail("expected " + std::string(expected) + ", found a JSON " +
       value_.type_name());
}

nlohmann::json ParseJson(std::string_view text,
                         const nlohmann::json::parser_callback_t& filter) {
  try {
    return nlohmann::json::parse(text, filter);
  } catch (const nlohmann::json::exception& error) {
    // A parse_error, or an out_of_range if a number does not fit in a double.
    throw ParseError("not JSON: " + Reason(error));
  }
}

void CheckKind(const JsonPlace& place, std::string_view kind) {
  const FieldReader reader(place);
  std::string found;
  reader("kind", found);
  // The items of a list have no kind.
  if (!found.empty() && found != kind) {
    place.Fail("expected a " + std::string(kind) + ", found a " + found);
  }
}

MalformedObject DescribeMalformed(const JsonPlace& object,
                                  const std::string& error) {
  MalformedObject malformed;
  malformed.error = error;
  try {
    const FieldReader reader(object);
    const nlohmann::json* metadata = object.Find("metadata");
    if (metadata == nullptr) return malformed;
    const JsonPlace place(*metadata, object, "metadata");
    const FieldReader fields(place);
    fields("namespace", malformed.namespace_name);
    fields("name", malformed.name);
    fields("resourceVersion", malformed.resource_version);
  } catch (const ParseError&) {
    // `error` already describes the problem. This only names the object.
  }
  return malformed;
}

void Read(const JsonPlace& place, std::string& out) {
  if (!place.value().is_string()) place.FailType("a string");
  out = place.value().get<std::string>();
}

std::shared_ptr<const std::string> WholeJson(nlohmann::json object) {
  object.erase("apiVersion");
  object.erase("kind");
  const auto metadata = object.find("metadata");
  if (metadata != object.end() && metadata->is_object()) {
    metadata->erase("managedFields");
  }
  return std::make_shared<const std::string>(
      object.dump(/*indent=*/-1, ' ', /*ensure_ascii=*/true));
}

void Read(const JsonPlace& place, bool& out) {
  if (!place.value().is_boolean()) place.FailType("true or false");
  out = place.value().get<bool>();
}

void Read(const JsonPlace& place, std::int32_t& out) { ReadInt(place, out); }

void Read(const JsonPlace& place, std::int64_t& out) { ReadInt(place, out); }

void Read(const JsonPlace& place, Time& out) {
  std::string text;
  Read(place, text);
  try {
    out = ParseTime(text);
  } catch (const ParseError& error) {
    place.Fail(error.what());
  }
}

void Read(const JsonPlace& place, MicroTime& out) { Read(place, out.time); }

void Read(const JsonPlace& place, Quantity& out) {
  // Like upstream, accepts numbers too: `cpu: 1` in a manifest is one.
  std::string text;
  if (place.value().is_number()) {
    text = place.value().dump();
  } else {
    Read(place, text);
  }
  try {
    out = Quantity::Parse(text);
  } catch (const ParseError& error) {
    place.Fail(error.what());
  }
}

void Write(nlohmann::json& json, const std::string& value) { json = value; }
void Write(nlohmann::json& json, bool value) { json = value; }
void Write(nlohmann::json& json, std::int32_t value) { json = value; }
void Write(nlohmann::json& json, std::int64_t value) { json = value; }
void Write(nlohmann::json& json, Time value) { json = FormatTime(value); }
void Write(nlohmann::json& json, MicroTime value) {
  json = FormatMicroTime(value.time);
}
void Write(nlohmann::json& json, const Quantity& value) {
  json = value.ToString();
}

FieldReader::FieldReader(const JsonPlace& place) : place_(place) {
  if (!place.value().is_object()) place.FailType("an object");
}

bool FieldWriter::IsEmpty(const nlohmann::json& member) {
  if (member.is_string()) return member.get_ref<const std::string&>().empty();
  return member.empty() || member == false || member == 0;
}

template ApiStatus FromJson<ApiStatus>(std::string_view, bool);
template std::string ToJson<ApiStatus>(const ApiStatus&);

}  // namespace minisched
