#include <fmt/format.h>
#include <yaml-cpp/binary.h>

#include <chrono>
#include <protozero/exception.hpp>
#include <string>
#include <utility>

// By default, protozero checks the type of a field only with assert(). Throw an
// exception instead.
#define protozero_assert(condition) \
  if (!(condition)) throw protozero::exception()
#include <protozero/pbf_reader.hpp>

#include "lab/apiserver/limits.h"
#include "lab/apiserver/schema/schema.h"
#include "minisched/api/parse_error.h"
#include "minisched/api/time.h"

namespace minisched::apiserver {
namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;
using Kind = SchemaField::Kind;

constexpr std::string_view kPrefix("k8s\0", 4);

std::string_view ReadBytes(pbf_reader& reader) {
  const auto bytes = reader.get_view();
  return {bytes.data(), bytes.size()};
}

// The fields of a small message that represents one scalar. The index is the
// number of the field. The meaning of a field depends on the message.
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

// Converts a message with seconds (field 1) and nanos (field 2). An empty
// message is the zero time, which is null.
Json ToTime(const Parts& parts, bool micro) {
  // In seconds, because converting a distant time to Time would overflow.
  constexpr std::chrono::sys_seconds kFirst =
      std::chrono::sys_days{std::chrono::year{0} / 1 / 1};
  constexpr std::chrono::sys_seconds kEnd =
      std::chrono::sys_days{std::chrono::year{10000} / 1 / 1};
  constexpr std::int32_t kNanos = 1'000'000'000;  // in a second
  if (parts.empty) return nullptr;
  const std::chrono::sys_seconds seconds{std::chrono::seconds(parts.ints[1])};
  const auto nanos = static_cast<std::int32_t>(parts.ints[2]);
  if (seconds < kFirst || seconds >= kEnd || nanos < 0 || nanos >= kNanos) {
    throw ParseError("proto: a time is out of range");
  }
  const Time time = seconds + std::chrono::microseconds(nanos / 1000);
  return micro ? FormatMicroTime(time) : FormatTime(time);
}

// Converts a message with a type (field 1), a number (field 2) and a string
// (field 3). The type is 0 for a number and 1 for a string.
Json ToIntOrString(const Parts& parts) {
  if (parts.ints[1] == 1) return parts.bytes[3];
  return static_cast<std::int32_t>(parts.ints[2]);
}

void ReadFields(pbf_reader reader, const SchemaType& type, Json& object);

Json ReadValue(pbf_reader& reader, const SchemaField& field) {
  switch (field.kind) {
    case Kind::kString:
      return ReadBytes(reader);
    case Kind::kBytes: {
      const std::string bytes(ReadBytes(reader));
      return YAML::EncodeBase64(
          reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
    }
    case Kind::kBool:
      return reader.get_int64() != 0;
    case Kind::kInt32:
      return static_cast<std::int32_t>(reader.get_int64());
    case Kind::kInt64:
      return reader.get_int64();
    case Kind::kQuantity:
      return ReadParts(reader.get_message()).bytes[1];
    case Kind::kTime:
    case Kind::kMicroTime:
      return ToTime(ReadParts(reader.get_message()),
                    field.kind == Kind::kMicroTime);
    case Kind::kIntOrString:
      return ToIntOrString(ReadParts(reader.get_message()));
    case Kind::kAny:  // dropped: managed fields, and data of drivers
      reader.skip();
      return nullptr;
    case Kind::kStruct: {
      Json object = Json::object();
      ReadFields(reader.get_message(), *field.type, object);
      return object;
    }
  }
  return nullptr;
}

// Reads an entry of a map: a message with a key (field 1) and a value (field
// 2).
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

void ReadFields(pbf_reader reader, const SchemaType& type, Json& object) {
  while (reader.next()) {
    const SchemaField* field = type.FindNumber(static_cast<int>(reader.tag()));
    if (field == nullptr) {
      reader.skip();
    } else if (field->inlined) {
      ReadFields(reader.get_message(), *field->type, object);
    } else if (field->map) {
      ReadEntry(reader.get_message(), *field, object[field->name]);
    } else if (field->list) {
      object[field->name].push_back(ReadValue(reader, *field));
    } else {
      object[field->name] = ReadValue(reader, *field);
    }
  }
}

// Reads the envelope, a runtime.Unknown. Field 1 is the type, a message with
// apiVersion and kind. Field 2 is the object.
Json ReadEnvelope(pbf_reader envelope) {
  Parts type;
  pbf_reader object;
  while (envelope.next()) {
    if (envelope.tag() == 1) {
      type = ReadParts(envelope.get_message());
    } else if (envelope.tag() == 2) {
      object = envelope.get_message();
    } else {
      envelope.skip();
    }
  }
  const std::string api_version(type.bytes[1]);
  const std::string kind(type.bytes[2]);
  // Every API group has DeleteOptions. The schema has them in "v1" only.
  const SchemaType* schema =
      Schema::Get().Find(kind == "DeleteOptions" ? "v1" : api_version, kind);
  if (schema == nullptr) {
    throw ParseError(
        fmt::format("no kind \"{}\" is registered for version \"{}\" here",
                    kind, api_version));
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
    throw ParseError(
        "provided data does not appear to be a protobuf message, expected "
        "prefix [107 56 115 0]");
  }
  body.remove_prefix(kPrefix.size());
  try {
    const Json object = ReadEnvelope({body.data(), body.size()});
    // A short body can be large as JSON: an empty message takes two bytes.
    CheckLimits(object);
    // protozero does not check strings. Dump() makes them valid UTF-8.
    return Json::parse(Dump(object));
  } catch (const protozero::exception&) {
    throw ParseError("proto: malformed, or a field has the wrong type");
  }
}

}  // namespace minisched::apiserver
