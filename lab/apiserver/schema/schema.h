#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lab/apiserver/object.h"

namespace minisched::apiserver {

struct SchemaType;

// A field of a type. The flags describe how upstream writes its Go types as
// JSON, so that this server can return the same JSON as upstream.
struct SchemaField {
  std::string name;  // "nodeName"
  // The kind of the value. For a list or map, the kind of its elements.
  enum class Kind {
    kString,
    kBool,
    kInt32,
    kInt64,
    kBytes,     // base64
    kQuantity,  // Normalize() makes it canonical
    kTime,      // whole seconds
    kMicroTime,
    kIntOrString,
    kAny,     // any JSON: FieldsV1, RawExtension
    kStruct,  // of `type`
  };
  Kind kind = Kind::kAny;
  const SchemaType* type = nullptr;
  bool list = false;
  bool map = false;       // from strings
  bool optional = false;  // a pointer in Go: zero differs from absent
  bool always = false;    // written even if the value is empty
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
  // The inlined structs. In JSON, their fields are fields of this type, so
  // `fields` also contains them. In protobuf, each struct is a message of its
  // own.
  std::vector<SchemaField> inlined;

  // Returns the field with this name, or nullptr.
  const SchemaField* Find(std::string_view field) const;
  // Returns the field or inlined struct with this protobuf number, or nullptr.
  const SchemaField* FindNumber(int number) const;
};

// The types of Kubernetes' API, which are needed to decode JSON and protobuf
// and to apply strategic merge patches. They come from schema.json, which
// schema.go generates from upstream's Go types.
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
// drops unknown and empty fields and managedFields, adds the fields that are
// always written, and makes quantities and times canonical. Returns the errors
// of strict validation, such as `unknown field "spec.foo"`; at most 100.
//
// Throws ParseError if a field has the wrong type, or an invalid quantity or
// time.
std::vector<std::string> Normalize(Json& object, const SchemaType& type);

// Decodes a body in Kubernetes' protobuf, which begins with "k8s\0". kubectl
// sends such bodies for some commands. Returns the same object as JSON,
// including apiVersion and kind. Throws ParseError if the body is invalid, and
// StatusError if the JSON is beyond a limit (limits.h).
Json DecodeProtobuf(std::string_view body);

}  // namespace minisched::apiserver
