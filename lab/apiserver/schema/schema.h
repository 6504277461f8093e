#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lab/apiserver/object.h"

namespace minisched::apiserver {

struct SchemaType;

// A field of a type. The flags describe how upstream writes its Go types as
// JSON, so that this server returns an object as upstream would.
struct SchemaField {
  std::string name;  // "nodeName"
  // The kind of its value; for a list or map, of the elements.
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
  bool map = false;       // its keys are strings
  bool optional = false;  // a pointer in Go: zero is not the same as absent
  bool always = false;    // written even if it is empty
  int number = 0;         // in protobuf; 0 if protobuf lacks the field
  bool inlined = false;   // see SchemaType
  // A strategic merge patch merges the list by this key ("" for a list of
  // scalars) instead of replacing it.
  bool merge = false;
  std::string merge_key;
  bool replace = false;  // a strategic merge patch replaces the struct
};

// A struct type of the API.
struct SchemaType {
  std::vector<SchemaField> fields;  // sorted by name
  // The inlined structs. JSON writes their fields as if they were this type's
  // own, so `fields` has them too. Protobuf writes the structs.
  std::vector<SchemaField> inlined;

  // Returns the field with this name, or nullptr.
  const SchemaField* Find(std::string_view field) const;
  // Returns the field or inlined struct with this protobuf number, or nullptr.
  const SchemaField* FindNumber(int number) const;
};

// The types of Kubernetes' API. They come from schema.json, which
// scripts/controlplane/schema.go generates from upstream's Go types. The
// decoding of JSON and protobuf and strategic merge patches depend on them.
class Schema {
 public:
  // Returns the built-in schema, which lives as long as the program.
  static const Schema& Get();

  // Returns the type of a kind, or nullptr. Every kind of AllResources() has a
  // type, and so do Binding, Eviction, Scale and DeleteOptions.
  const SchemaType* Find(std::string_view api_version,
                         std::string_view kind) const;

 private:
  explicit Schema(const Json& json);
  std::map<std::string, SchemaType> types_;  // by "core/v1.Container"
  // By "API_VERSION KIND".
  std::map<std::string, const SchemaType*, std::less<>> kinds_;
};

// Changes an object from a client into the form that upstream would store:
// drops unknown and empty fields, adds the fields that are always written, and
// makes quantities and times canonical. Returns the errors of strict
// validation, at most 100: `unknown field "spec.foo"`.
//
// Throws ParseError if a field has the wrong type.
std::vector<std::string> Normalize(Json& object, const SchemaType& type);

// Decodes a Kubernetes protobuf body (with its "k8s\0" envelope), which kubectl
// sends for some commands. Returns the JSON that the client would have sent,
// including apiVersion and kind. Throws ParseError, and StatusError if the JSON
// is beyond a limit (limits.h).
Json DecodeProtobuf(std::string_view body);

}  // namespace minisched::apiserver
