#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "minisched/api/parse_error.h"
#include "minisched/api/quantity.h"
#include "minisched/api/time.h"
#include "minisched/apiserver/errors.h"
#include "minisched/apiserver/schema.h"

// Does what Go does between reading JSON into a struct and writing it again,
// with sigs.k8s.io/json and encoding/json.

namespace minisched::apiserver {
namespace {

using Kind = SchemaField::Kind;

// Upstream reports no more than this.
constexpr std::size_t kMaxUnknown = 100;

// Where in the object a value is. On the stack, below that of what holds it.
struct Place {
  const Place* parent = nullptr;
  // What is decoded there; the fields of `field` are those of the elements,
  // too. nullptr at the top.
  const SchemaType* in = nullptr;
  const SchemaField* field = nullptr;
  std::string_view key;  // of a map's value
  int index = -1;        // of a list's element

  bool IsElement() const { return index >= 0 || key.data() != nullptr; }

  // "spec.containers[0].name"
  std::string Path() const {
    if (parent == nullptr) return "";
    std::string path = parent->Path();
    if (index >= 0) return path + "[" + std::to_string(index) + "]";
    if (!path.empty()) path += ".";
    return path.append(key.data() != nullptr ? key : field->name);
  }

  // "spec.containers.name": Go leaves out keys and indices, and names what is
  // inlined.
  std::string GoPath() const {
    if (parent == nullptr) return "";
    std::string path = parent->GoPath();
    if (IsElement()) return path;
    if (!path.empty()) path += ".";
    if (!field->embedded.empty()) path += field->embedded + ".";
    return path + field->name;
  }
};

[[noreturn]] void Fail(const Place& place, const std::string& why) {
  const Place* top = &place;
  while (top->parent != nullptr) top = top->parent;
  const std::string& name = top->in->name;  // "apps/v1.Deployment"
  const std::size_t slash = name.find('/') + 1;
  const std::string version = name.substr(slash, name.find('.') - slash);
  const std::string& kind = top->in->go_name;
  throw BadRequest(kind + " in version \"" + version +
                   "\" cannot be handled as a " + kind + ": " + why);
}

// What Go calls a JSON value.
std::string Describe(const Json& value) {
  return value.is_boolean() ? "bool" : value.type_name();
}

[[noreturn]] void FailType(const Place& place, const std::string& value,
                           const std::string& type) {
  std::string target = "value";
  if (place.field != nullptr) {
    target = "struct field " + place.in->go_name + "." + place.GoPath();
  }
  Fail(place, "json: cannot unmarshal " + value + " into Go " + target +
                  " of type " + type);
}

// The Go type of the value at `place`.
std::string GoType(const Place& place) {
  if (place.field == nullptr) return "v1." + place.in->go_name;
  const std::string& type = place.field->go_type;
  if (!place.IsElement() || type.find(']') == type.npos) return type;
  return type.substr(type.find(']') + 1);
}

// Without ParseError's mention of what was to be parsed.
std::string Reason(const ParseError& error) {
  const std::string what = error.what();
  return what.substr(what.rfind("\": ") + 3);
}

template <class Int>
void CheckInt(const Json& value, const Place& place) {
  using Limits = std::numeric_limits<Int>;
  const std::string type = sizeof(Int) == 4 ? "int32" : "int64";
  if (!value.is_number()) FailType(place, Describe(value), type);
  const bool fits = value.is_number_unsigned()
                        ? value.get<std::uint64_t>() <=
                              static_cast<std::uint64_t>(Limits::max())
                        : value.is_number_integer() &&
                              value.get<std::int64_t>() >= Limits::min() &&
                              value.get<std::int64_t>() <= Limits::max();
  if (!fits) FailType(place, "number " + value.dump(), type);
}

// What can be told in thousandths.
const Quantity kMaxMilli = Quantity::FromValue(1'000'000'000'000'000);

void NormalizeQuantity(Json& value, const Place& place) {
  std::string text =
      value.is_string() ? value.get<std::string>() : value.dump();
  text.erase(0, text.find_first_not_of(" \t\r\n"));
  text.erase(text.find_last_not_of(" \t\r\n") + 1);
  try {
    auto quantity = Quantity::Parse(text);
    // In a ResourceList, the only maps of quantities that there are,
    // thousandths are the finest that count.
    if (place.field->map && quantity < kMaxMilli) {
      quantity = std::max(quantity, Quantity::FromMilli(quantity.MilliValue(),
                                                        quantity.format()));
    }
    value = quantity.ToString();
  } catch (const ParseError& error) {
    Fail(place, Reason(error));
  }
}

void NormalizeTime(Json& value, const Place& place) {
  if (!value.is_string()) FailType(place, Describe(value), "string");
  const std::string text = value;
  const bool micro = place.field->kind == Kind::kMicroTime;
  const auto fail = [&](const std::string& rest, const std::string& layout) {
    Fail(place, "parsing time " + Json(text).dump() +
                    " as \"2006-01-02T15:04:05" + (micro ? ".000000" : "") +
                    "Z07:00\": cannot parse " + Json(rest).dump() + " as \"" +
                    layout + "\"");
  };
  try {
    const Time time = ParseTime(text);
    // "2006-01-02T15:04:05" has 19 bytes. Exactly six digits have to follow.
    if (micro && text.find_first_not_of(".0123456789", 19) != 19 + 7) {
      fail(text.substr(19), ".000000");
    }
    value = micro ? FormatMicroTime(time) : FormatTime(time);
  } catch (const ParseError&) {
    fail(text, "2006");
  }
}

// How much of `text` is base64.
std::size_t Base64Size(std::string_view text) {
  const std::size_t digits =
      std::min(text.size(), text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                                   "abcdefghijklmnopqrstuvwxyz"
                                                   "0123456789+/"));
  const std::string_view padding = text.substr(digits);
  const std::size_t rest = digits % 4;
  if (rest == 0 && padding.empty()) return digits;
  if ((rest == 2 && padding == "==") || (rest == 3 && padding == "=")) {
    return text.size();
  }
  return padding.empty() ? digits - rest : digits;
}

void NormalizeBytes(Json& value, const Place& place) {
  if (!value.is_string()) FailType(place, Describe(value), "[]uint8");
  auto& text = value.get_ref<std::string&>();
  std::erase_if(text, [](char c) { return c == '\r' || c == '\n'; });
  const std::size_t size = Base64Size(text);
  if (size == text.size()) return;
  Fail(place, "illegal base64 data at input byte " + std::to_string(size));
}

class Normalizer {
 public:
  void Object(Json& object, const SchemaType& type, const Place& place);

  std::vector<std::string> unknown;

 private:
  void Field(Json& value, const Place& place);
  void Value(Json& value, const Place& place);
};

// What a value is that is null, or isn't there.
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

// Whether a field with this value is left out.
bool IsOmitted(const Json& value, const SchemaField& field) {
  if (field.always) return false;
  if (field.optional || value.is_null()) return value.is_null();
  if (value.is_boolean()) return value == false;
  if (value.is_number()) return value == 0;
  if (value.is_string()) return value.get_ref<const std::string&>().empty();
  return value.empty();
}

void Normalizer::Object(Json& object, const SchemaType& type,
                        const Place& place) {
  if (!object.is_object()) FailType(place, Describe(object), GoType(place));
  for (auto member = object.begin(); member != object.end();) {
    const SchemaField* field = type.Find(member.key());
    if (field != nullptr) {
      Field(*member, {&place, &type, field});
    } else if (unknown.size() < kMaxUnknown) {
      const Place where{&place, &type, nullptr, member.key()};
      unknown.push_back("unknown field " + Json(where.Path()).dump());
    }
    const bool omit = field == nullptr || IsOmitted(*member, *field);
    member = omit ? object.erase(member) : std::next(member);
  }
  for (const SchemaField& field : type.fields) {
    if (!field.always || object.contains(field.name)) continue;
    Field(object[field.name], {&place, &type, &field});
  }
}

void Normalizer::Field(Json& value, const Place& place) {
  const SchemaField& field = *place.field;
  if (!field.list && !field.map) {
    if (value.is_null() && !field.optional) value = ZeroOf(field.kind);
    return Value(value, place);
  }
  if (value.is_null()) return;
  if (field.list ? !value.is_array() : !value.is_object()) {
    FailType(place, Describe(value), GoType(place));
  }
  int index = 0;
  for (auto element = value.begin(); element != value.end(); ++element) {
    if (element->is_null()) *element = ZeroOf(field.kind);
    Value(*element, field.list
                        ? Place{&place, place.in, &field, {}, index++}
                        : Place{&place, place.in, &field, element.key()});
  }
  // Storage doesn't tell an empty one from none.
  if (value.empty()) value = nullptr;
}

void Normalizer::Value(Json& value, const Place& place) {
  if (value.is_null()) return;
  const auto expect = [&](bool is_so) {
    if (!is_so) FailType(place, Describe(value), GoType(place));
  };
  switch (place.field->kind) {
    case Kind::kString:
      return expect(value.is_string());
    case Kind::kBool:
      return expect(value.is_boolean());
    case Kind::kInt32:
      return CheckInt<std::int32_t>(value, place);
    case Kind::kInt64:
      return CheckInt<std::int64_t>(value, place);
    case Kind::kIntOrString:
      return value.is_string() ? void() : CheckInt<std::int32_t>(value, place);
    case Kind::kBytes:
      return NormalizeBytes(value, place);
    case Kind::kQuantity:
      return NormalizeQuantity(value, place);
    case Kind::kTime:
    case Kind::kMicroTime:
      return NormalizeTime(value, place);
    case Kind::kStruct:
      return Object(value, *place.field->type, place);
    case Kind::kAny:
      return;
  }
}

}  // namespace

std::vector<std::string> Normalize(Json& object, const SchemaType& type) {
  Normalizer normalizer;
  normalizer.Object(object, type, Place{.in = &type});
  // Who manages which field is not kept.
  if (const auto metadata = object.find("metadata"); metadata != object.end()) {
    metadata->erase("managedFields");
  }
  return normalizer.unknown;
}

}  // namespace minisched::apiserver
