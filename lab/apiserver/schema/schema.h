#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lab/apiserver/object.h"

namespace minisched::apiserver {

struct SchemaType;

// A field of a type. The flags say how upstream's Go types are written as JSON,
// so that an object that passes through this server comes out as it would
// there.
struct SchemaField {
  std::string name;  // "nodeName"
  // What it holds: the list's elements or the map's values where it is one.
  enum class Kind {
    kString,
    kBool,
    kInt32,
    kInt64,
    kBytes,     // base64
    kQuantity,  // made canonical when read
    kTime,      // whole seconds
    kMicroTime,
    kIntOrString,
    kAny,     // any JSON: FieldsV1, RawExtension
    kStruct,  // of `type`
  };
  Kind kind = Kind::kAny;
  const SchemaType* type = nullptr;
  bool list = false;
  bool map = false;       // by string
  bool optional = false;  // a pointer in Go: zero is not the same as absent
  bool always = false;    // written even if it is empty
  int number = 0;         // in protobuf; 0 if it doesn't know it
  bool inlined = false;   // see SchemaType
  // How a strategic merge patch treats a list of it: replaces it as a whole, or
  // merges it, by this key (none for a list of scalars).
  bool merge = false;
  std::string merge_key;
  bool replace = false;  // how it treats a struct, most of which it merges
};

struct SchemaType {
  std::vector<SchemaField> fields;  // by name
  // The structs whose fields, which are among `fields`, are written in JSON as
  // if they were this type's own. Protobuf doesn't know of that.
  std::vector<SchemaField> inlined;

  const SchemaField* Find(std::string_view field) const;  // or nullptr
  // Where protobuf knows it by this number; may be one of `inlined`.
  const SchemaField* FindNumber(int number) const;  // or nullptr
};

// The types of the API as they come with Kubernetes, read from schema.json,
// which scripts/controlplane/schema.go makes from upstream's Go types.
// Everything that has to know fields goes by it: decoding JSON and protobuf,
// strategic merge patches.
class Schema {
 public:
  // The one built in. Lives as long as the program.
  static const Schema& Get();

  // nullptr where there is none. Every kind of AllResources() has one, and so
  // have Binding, Eviction, Scale and DeleteOptions.
  const SchemaType* Find(std::string_view api_version,
                         std::string_view kind) const;

 private:
  explicit Schema(const Json& json);
  std::map<std::string, SchemaType> types_;  // by "core/v1.Container"
  // By "API_VERSION KIND".
  std::map<std::string, const SchemaType*, std::less<>> kinds_;
};

// Makes of what a client sent what upstream would store: drops fields that the
// type doesn't know and those that are empty, adds those that are always there,
// makes quantities and times canonical. Returns what strict validation has to
// say, up to 100 times: `unknown field "spec.foo"`.
//
// Throws ParseError where a field has the wrong type.
std::vector<std::string> Normalize(Json& object, const SchemaType& type);

// Decodes a Kubernetes protobuf body (with its "k8s\0" envelope), which kubectl
// sends for some commands, into what the client would have sent as JSON,
// apiVersion and kind included. Throws ParseError, and StatusError if that is
// beyond a limit (limits.h).
Json DecodeProtobuf(std::string_view body);

}  // namespace minisched::apiserver
