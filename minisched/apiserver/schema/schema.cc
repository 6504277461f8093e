#include "minisched/apiserver/schema/schema.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <utility>

namespace minisched::apiserver {

extern const std::string_view kSchemaText;  // schema.txt; CMake embeds it

namespace {

using Kind = SchemaField::Kind;

const std::unordered_map<std::string_view, Kind> kScalars = {
    {"string", Kind::kString},
    {"bool", Kind::kBool},
    {"int32", Kind::kInt32},
    {"int64", Kind::kInt64},
    {"bytes", Kind::kBytes},
    {"quantity", Kind::kQuantity},
    {"time", Kind::kTime},
    {"microtime", Kind::kMicroTime},
    {"intorstring", Kind::kIntOrString},
    {"any", Kind::kAny},
};

// Takes what is before the separator off `rest`, and the separator with it.
std::string_view TakeUntil(char separator, std::string_view* rest) {
  const std::size_t end = std::min(rest->find(separator), rest->size());
  const std::string_view taken = rest->substr(0, end);
  rest->remove_prefix(std::min(end + 1, rest->size()));
  return taken;
}

bool TakePrefix(std::string_view prefix, std::string_view* rest) {
  if (!rest->starts_with(prefix)) return false;
  rest->remove_prefix(prefix.size());
  return true;
}

// "[]v1.Container" for "[]core/v1.Container": Go names a type by the last part
// of its package's path, and knows no pointers where it decodes JSON.
std::string GoType(std::string_view type) {
  TakePrefix("*", &type);
  std::string text;
  for (const char c : type) {
    text += c;
    if (c == '/') text.resize(text.find_last_of("[]") + 1);  // npos + 1 is 0
  }
  return text;
}

// What the lines of schema.txt say, for types to be resolved with.
struct Lines {
  std::unordered_map<std::string_view, SchemaType*> structs;
  std::unordered_map<std::string_view, std::string_view> names;
};

void SetType(std::string_view text, const Lines& lines, SchemaField* field) {
  if (TakePrefix("*", &text)) field->optional = true;
  if (TakePrefix("[]", &text)) field->list = true;
  if (TakePrefix("map[", &text)) {
    field->map = true;
    TakeUntil(']', &text);
  }
  if (const auto name = lines.names.find(text); name != lines.names.end()) {
    return SetType(name->second, lines, field);
  }
  if (const auto kind = kScalars.find(text); kind != kScalars.end()) {
    field->kind = kind->second;
    return;
  }
  field->kind = Kind::kStruct;
  field->type = lines.structs.at(text);
}

void SetFlag(std::string_view flag, SchemaField* field) {
  if (flag == "always") {
    field->always = true;
  } else if (flag == "inline") {
    field->inlined = true;
  } else if (flag == "replace") {
    field->replace = true;
  } else if (TakePrefix("merge", &flag)) {
    field->merge = true;
    TakePrefix("=", &flag);
    field->merge_key = flag;
  }
}

// Reads the fields of a struct, "name:1:string:always metadata:2:…".
void SetFields(std::string_view text, const Lines& lines, SchemaType* type) {
  while (!text.empty()) {
    std::string_view rest = TakeUntil(' ', &text);
    SchemaField field{.name = std::string(TakeUntil(':', &rest))};
    const std::string_view number = TakeUntil(':', &rest);
    std::from_chars(number.data(), number.data() + number.size(), field.number);
    const std::string_view type_text = TakeUntil(':', &rest);
    SetType(type_text, lines, &field);
    field.go_type = GoType(type_text);
    while (!rest.empty()) SetFlag(TakeUntil(',', &rest), &field);
    (field.inlined ? type->inlined : type->fields).push_back(std::move(field));
  }
}

// Adds the fields of inlined structs, which have no inlined ones themselves, to
// the type's own. Protobuf knows them in those structs alone.
void AddInlined(SchemaType* type) {
  for (const SchemaField& inlined : type->inlined) {
    for (SchemaField field : inlined.type->fields) {
      field.number = 0;
      type->fields.push_back(std::move(field));
    }
  }
}

}  // namespace

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

Schema::Schema(std::string_view text) {
  Lines lines;
  std::vector<std::pair<SchemaType*, std::string_view>> bodies;
  std::vector<std::pair<std::string, std::string_view>> kinds;
  while (!text.empty()) {
    std::string_view line = TakeUntil('\n', &text);
    if (TakePrefix("kind ", &line)) {
      const std::size_t end = line.rfind(' ');
      kinds.emplace_back(line.substr(0, end), line.substr(end + 1));
    } else if (TakePrefix("type ", &line)) {
      const std::string_view name = TakeUntil(' ', &line);
      if (TakePrefix("= ", &line)) {
        lines.names[name] = line;
        continue;
      }
      types_.push_back(std::make_unique<SchemaType>(SchemaType{
          std::string(name), std::string(name.substr(name.rfind('.') + 1))}));
      lines.structs[name] = types_.back().get();
      bodies.emplace_back(types_.back().get(), line);
    }
  }
  for (const auto& [type, body] : bodies) SetFields(body, lines, type);
  for (const auto& type : types_) AddInlined(type.get());
  for (const auto& type : types_) {
    std::sort(type->fields.begin(), type->fields.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
  }
  for (auto& [kind, type] : kinds) {
    kinds_[std::move(kind)] = lines.structs.at(type);
  }
}

const Schema& Schema::Get() {
  static const Schema schema(kSchemaText);
  return schema;
}

const SchemaType* Schema::Find(std::string_view api_version,
                               std::string_view kind) const {
  const auto found =
      kinds_.find(std::string(api_version).append(" ").append(kind));
  return found == kinds_.end() ? nullptr : found->second;
}

}  // namespace minisched::apiserver
