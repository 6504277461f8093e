#include <algorithm>
#include <limits>

#include "minisched/api/parse_error.h"
#include "minisched/api/quantity.h"
#include "minisched/api/time.h"
#include "minisched/apiserver/errors.h"
#include "minisched/apiserver/schema/schema.h"

// Does what Go does between reading JSON into a struct and writing it again,
// with sigs.k8s.io/json and encoding/json.

namespace minisched::apiserver {
namespace {

using Kind = SchemaField::Kind;

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

  // "spec.containers.name": Go leaves out keys and indices.
  std::string GoPath() const {
    if (parent == nullptr) return "";
    std::string path = parent->GoPath();
    if (IsElement()) return path;
    if (!path.empty()) path += ".";
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

// `type` is what Go expects there.
[[noreturn]] void FailType(const Place& place, const Json& value,
                           const std::string& type) {
  const std::string target =
      place.field == nullptr
          ? "value"
          : "struct field " + place.in->go_name + "." + place.GoPath();
  const bool is_number_wanted = type == "int32" || type == "int64";
  const std::string given = value.is_boolean() ? "bool"
                            : value.is_number() && is_number_wanted
                                ? "number " + value.dump()
                                : value.type_name();
  Fail(place, "json: cannot unmarshal " + given + " into Go " + target +
                  " of type " + type);
}

// The Go type of the value at `place`.
std::string GoType(const Place& place) {
  if (place.field == nullptr) return "v1." + place.in->go_name;
  const std::string& type = place.field->go_type;
  if (!place.IsElement() || type.find(']') == type.npos) return type;
  return type.substr(type.find(']') + 1);
}

void CheckInt(const Json& value, const Place& place, bool wide) {
  using Int32 = std::numeric_limits<std::int32_t>;
  // What is beyond any int64 is unsigned, or no integer.
  const std::int64_t number =
      value.is_number_integer() ? value.get<std::int64_t>() : 0;
  const bool fits =
      value.is_number_integer() &&
      (number >= 0 || !value.is_number_unsigned()) &&
      (wide || (Int32::min() <= number && number <= Int32::max()));
  if (!fits) FailType(place, value, wide ? "int64" : "int32");
}

// What can be told in thousandths.
const Quantity kMaxMilli = Quantity::FromValue(1'000'000'000'000'000);

void NormalizeQuantity(Json& value, const Place& place) {
  try {
    auto quantity = Quantity::Parse(value.is_string() ? value.get<std::string>()
                                                      : value.dump());
    // In a ResourceList, the only maps of quantities that there are,
    // thousandths are the finest that count.
    if (place.field->map && quantity < kMaxMilli) {
      quantity = std::max(quantity, Quantity::FromMilli(quantity.MilliValue(),
                                                        quantity.format()));
    }
    value = quantity.ToString();
  } catch (const ParseError& error) {
    // Without its mention of what was to be parsed.
    const std::string what = error.what();
    Fail(place, what.substr(what.rfind("\": ") + 3));
  }
}

void NormalizeTime(Json& value, const Place& place) {
  if (!value.is_string()) FailType(place, value, "string");
  const std::string text = value;
  const bool micro = place.field->kind == Kind::kMicroTime;
  // "2006-01-02T15:04:05" has 19 bytes. Exactly six digits have to follow.
  const bool precise = text.find_first_not_of(".0123456789", 19) == 19 + 7;
  std::string unparsed = Json(text).dump() + " as \"2006\"";
  try {
    const Time time = ParseTime(text);
    if (!micro || precise) {
      value = micro ? FormatMicroTime(time) : FormatTime(time);
      return;
    }
    unparsed = Json(text.substr(19)).dump() + " as \".000000\"";
  } catch (const ParseError&) {
  }
  Fail(place, "parsing time " + Json(text).dump() +
                  " as \"2006-01-02T15:04:05" + (micro ? ".000000" : "") +
                  "Z07:00\": cannot parse " + unparsed);
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
  if (!object.is_object()) FailType(place, object, GoType(place));
  for (auto member = object.begin(); member != object.end();) {
    const SchemaField* field = type.Find(member.key());
    if (field != nullptr) {
      Field(*member, {&place, &type, field});
    } else {
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
    FailType(place, value, GoType(place));
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
    if (!is_so) FailType(place, value, GoType(place));
  };
  switch (place.field->kind) {
    case Kind::kString:
    case Kind::kBytes:
      return expect(value.is_string());
    case Kind::kBool:
      return expect(value.is_boolean());
    case Kind::kInt32:
    case Kind::kInt64:
      return CheckInt(value, place, place.field->kind == Kind::kInt64);
    case Kind::kIntOrString:
      return value.is_string() ? void() : CheckInt(value, place, false);
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
