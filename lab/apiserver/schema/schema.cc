#include "lab/apiserver/schema/schema.h"

#include <algorithm>

namespace minisched::apiserver {

extern const std::string_view kSchemaText;  // schema.json, embedded by CMake

using Kind = SchemaField::Kind;
NLOHMANN_JSON_SERIALIZE_ENUM(SchemaField::Kind,
                             {{Kind::kAny, "any"},
                              {Kind::kString, "string"},
                              {Kind::kBool, "bool"},
                              {Kind::kInt32, "int32"},
                              {Kind::kInt64, "int64"},
                              {Kind::kBytes, "bytes"},
                              {Kind::kQuantity, "quantity"},
                              {Kind::kTime, "time"},
                              {Kind::kMicroTime, "microtime"},
                              {Kind::kIntOrString, "intorstring"},
                              {Kind::kStruct, "struct"}})
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(SchemaField, name, kind, list,
                                                map, optional, always, number,
                                                inlined, merge, merge_key,
                                                replace)

const SchemaField* SchemaType::Find(std::string_view field) const {
  const auto found =
      std::lower_bound(fields.begin(), fields.end(), field,
                       [](const SchemaField& f, std::string_view name) {
                         return f.name < name;
                       });
  return found != fields.end() && found->name == field ? &*found : nullptr;
}

const SchemaField* SchemaType::FindNumber(int number) const {
  for (const auto* list : {&fields, &inlined}) {
    for (const SchemaField& field : *list) {
      if (field.number == number && number != 0) return &field;
    }
  }
  return nullptr;
}

Schema::Schema(const Json& json) {
  for (const auto& [name, fields] : json["types"].items()) {
    SchemaType& type = types_[name];
    for (const Json& each : fields) {
      SchemaField field = each;
      if (field.kind == Kind::kStruct) field.type = &types_[each["struct"]];
      (field.inlined ? type.inlined : type.fields).push_back(std::move(field));
    }
  }
  for (auto& [name, type] : types_) {
    for (const SchemaField& inlined : type.inlined) {
      for (SchemaField field : inlined.type->fields) {
        field.number = 0;
        type.fields.push_back(std::move(field));
      }
    }
    std::sort(type.fields.begin(), type.fields.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
  }
  for (const auto& [kind, type] : json["kinds"].items()) {
    kinds_[kind] = &types_.at(type);
  }
}

const Schema& Schema::Get() {
  static const Schema schema(Json::parse(kSchemaText));
  return schema;
}

const SchemaType* Schema::Find(std::string_view api_version,
                               std::string_view kind) const {
  const auto found =
      kinds_.find(std::string(api_version).append(" ").append(kind));
  return found == kinds_.end() ? nullptr : found->second;
}

}  // namespace minisched::apiserver
