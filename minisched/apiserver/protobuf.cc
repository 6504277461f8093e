#include <yaml-cpp/binary.h>

#include <chrono>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <utility>

#include "minisched/api/time.h"
#include "minisched/apiserver/errors.h"
#include "minisched/apiserver/schema.h"

namespace minisched::apiserver {
namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;
using Kind = SchemaField::Kind;

constexpr std::string_view kPrefix("k8s\0", 4);
constexpr int kMaxDepth = 200;

// protozero doesn't expect any other.
void Expect(const pbf_reader& reader, pbf_wire_type type) {
  if (reader.has_wire_type(type)) return;
  throw BadRequest("proto: wrong wireType = " +
                   std::to_string(static_cast<int>(reader.wire_type())) +
                   " for field " + std::to_string(reader.tag()));
}

std::int64_t ReadInt(pbf_reader& reader) {
  Expect(reader, pbf_wire_type::varint);
  return reader.get_int64();
}

std::string_view ReadBytes(pbf_reader& reader) {
  Expect(reader, pbf_wire_type::length_delimited);
  const auto bytes = reader.get_view();
  return {bytes.data(), bytes.size()};
}

pbf_reader ReadMessage(pbf_reader& reader) {
  const std::string_view bytes = ReadBytes(reader);
  return {bytes.data(), bytes.size()};
}

// What messages have that stand for scalars; which numbers they use is for the
// caller to know.
struct Parts {
  std::int64_t ints[4] = {};
  std::string_view bytes[4];
  bool empty = true;
};

Parts ReadParts(pbf_reader message) {
  Parts parts;
  while (message.next()) {
    parts.empty = false;
    const auto number = message.tag();
    if (number >= std::size(parts.ints)) {
      message.skip();
    } else if (message.has_wire_type(pbf_wire_type::varint)) {
      parts.ints[number] = message.get_int64();
    } else {
      parts.bytes[number] = ReadBytes(message);
    }
  }
  return parts;
}

// Of seconds (1) and nanos (2); nothing at all is the zero time.
Json ToTime(const Parts& parts, bool micro) {
  constexpr Time kFirst = std::chrono::sys_days{std::chrono::year{0} / 1 / 1};
  constexpr Time kEnd = std::chrono::sys_days{std::chrono::year{10000} / 1 / 1};
  if (parts.empty) return nullptr;
  const std::chrono::seconds seconds(parts.ints[1]);
  if (seconds < kFirst.time_since_epoch() ||
      seconds >= kEnd.time_since_epoch()) {
    throw BadRequest("proto: a time is out of range");
  }
  const auto nanos = static_cast<std::int32_t>(parts.ints[2]);
  const Time time(seconds + std::chrono::microseconds(nanos / 1000));
  return micro ? FormatMicroTime(time) : FormatTime(time);
}

// Of JSON as bytes (1).
Json ToAny(const Parts& parts) {
  if (parts.bytes[1].empty()) return nullptr;
  return Json::parse(parts.bytes[1], [](int depth, auto, auto&) {
    if (depth > kMaxDepth) throw BadRequest("proto: JSON is nested too deep");
    return true;
  });
}

// Of a type: 0 for a number (2), 1 for a string (3).
Json ToIntOrString(const Parts& parts) {
  if (parts.ints[1] == 1) return parts.bytes[3];
  return static_cast<std::int32_t>(parts.ints[2]);
}

std::string ToBase64(std::string_view bytes) {
  return YAML::EncodeBase64(
      reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

void ReadFields(pbf_reader reader, const SchemaType& type, Json& object);

Json ReadValue(pbf_reader& reader, const SchemaField& field) {
  switch (field.kind) {
    case Kind::kString:
      return ReadBytes(reader);
    case Kind::kBytes:
      return ToBase64(ReadBytes(reader));
    case Kind::kBool:
      return ReadInt(reader) != 0;
    case Kind::kInt32:
      return static_cast<std::int32_t>(ReadInt(reader));
    case Kind::kInt64:
      return ReadInt(reader);
    case Kind::kQuantity:
      return ReadParts(ReadMessage(reader)).bytes[1];
    case Kind::kTime:
    case Kind::kMicroTime:
      return ToTime(ReadParts(ReadMessage(reader)),
                    field.kind == Kind::kMicroTime);
    case Kind::kIntOrString:
      return ToIntOrString(ReadParts(ReadMessage(reader)));
    case Kind::kAny:
      return ToAny(ReadParts(ReadMessage(reader)));
    case Kind::kStruct: {
      Json object = Json::object();
      ReadFields(ReadMessage(reader), *field.type, object);
      return object;
    }
  }
  return nullptr;
}

// An entry of a map is a message of a key (1) and a value (2).
void ReadEntry(pbf_reader entry, const SchemaField& field, Json& map) {
  std::string key;
  Json value;
  while (entry.next()) {
    if (entry.tag() == 1) {
      key = ReadBytes(entry);
    } else if (entry.tag() == 2) {
      value = ReadValue(entry, field);
    } else {
      entry.skip();
    }
  }
  map[key] = std::move(value);
}

// Numbers in a list may be packed into one field.
bool IsPacked(const pbf_reader& reader, const SchemaField& field) {
  return reader.has_wire_type(pbf_wire_type::length_delimited) &&
         (field.kind == Kind::kInt32 || field.kind == Kind::kInt64 ||
          field.kind == Kind::kBool);
}

void ReadFields(pbf_reader reader, const SchemaType& type, Json& object) {
  while (reader.next()) {
    const SchemaField* field = type.FindNumber(static_cast<int>(reader.tag()));
    if (field == nullptr) {
      reader.skip();
    } else if (field->inlined) {
      ReadFields(ReadMessage(reader), *field->type, object);
    } else if (field->map) {
      ReadEntry(ReadMessage(reader), *field, object[field->name]);
    } else if (field->list && IsPacked(reader, *field)) {
      for (const std::int64_t number : reader.get_packed_int64()) {
        object[field->name].push_back(
            field->kind == Kind::kBool ? Json(number != 0) : Json(number));
      }
    } else if (field->list) {
      object[field->name].push_back(ReadValue(reader, *field));
    } else {
      object[field->name] = ReadValue(reader, *field);
    }
  }
}

// What is in the envelope, a runtime.Unknown: the type (1: apiVersion, kind)
// and the object (2).
Json ReadEnvelope(pbf_reader envelope) {
  Parts type;
  pbf_reader object;
  while (envelope.next()) {
    if (envelope.tag() == 1) {
      type = ReadParts(ReadMessage(envelope));
    } else if (envelope.tag() == 2) {
      object = ReadMessage(envelope);
    } else {
      envelope.skip();
    }
  }
  const std::string api_version(type.bytes[1]);
  const std::string kind(type.bytes[2]);
  // Every group has DeleteOptions.
  const SchemaType* schema =
      Schema::Get().Find(kind == "DeleteOptions" ? "v1" : api_version, kind);
  if (schema == nullptr) {
    throw BadRequest("no kind \"" + kind + "\" is registered for version \"" +
                     api_version +
                     "\" in scheme \"pkg/api/legacyscheme/scheme.go:30\"");
  }
  Json result = Json::object();
  ReadFields(object, *schema, result);
  result["apiVersion"] = api_version;
  result["kind"] = kind;
  return result;
}

}  // namespace

Json DecodeProtobuf(std::string_view body) {
  if (!body.starts_with(kPrefix)) {
    throw BadRequest(
        "provided data does not appear to be a protobuf message, expected "
        "prefix [107 56 115 0]");
  }
  body.remove_prefix(kPrefix.size());
  try {
    const Json object = ReadEnvelope({body.data(), body.size()});
    // As there is no check that strings are UTF-8, this makes them.
    return Json::parse(
        object.dump(-1, ' ', false, Json::error_handler_t::replace));
  } catch (const protozero::exception& error) {
    throw BadRequest(std::string("proto: ") + error.what());
  } catch (const Json::exception& error) {
    throw BadRequest(std::string("proto: ") + error.what());
  }
}

}  // namespace minisched::apiserver
