#include "minisched/apiserver/openapi.h"

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "minisched/apiserver/resources.h"
#include "minisched/apiserver/schema.h"

namespace minisched::apiserver {
namespace {

using Kind = SchemaField::Kind;

Json Ref(const std::string& name) {
  return {{"$ref", "#/components/schemas/" + name}};
}

// "io.k8s.api.core.v1.Pod" for "core/v1.Pod".
std::string ComponentName(const SchemaType& type) {
  std::string name = type.name;
  name[name.find('/')] = '.';
  return (name.starts_with("meta.") ? "io.k8s.apimachinery.pkg.apis."
                                    : "io.k8s.api.") +
         name;
}

// What stands for one value of a field; `components` is where named schemas go.
Json ValueSchema(const SchemaField& field, Json& components);

// A schema that upstream has under a name of its own.
Json Named(const std::string& name, const Json& schema, Json& components) {
  const std::string full = "io.k8s.apimachinery.pkg." + name;
  components[full] = schema;
  return Ref(full);
}

Json FieldSchema(const SchemaField& field, Json& components) {
  Json schema = ValueSchema(field, components);
  if (field.list) schema = {{"type", "array"}, {"items", std::move(schema)}};
  if (field.map) {
    schema = {{"type", "object"}, {"additionalProperties", std::move(schema)}};
  }
  std::string strategy = field.merge ? "merge" : field.replace ? "replace" : "";
  if (field.retain_keys) strategy += strategy.empty() ? "" : ",";
  if (field.retain_keys) strategy += "retainKeys";
  if (strategy.empty()) return schema;
  schema["x-kubernetes-patch-strategy"] = strategy;
  if (!field.merge_key.empty()) {
    schema["x-kubernetes-patch-merge-key"] = field.merge_key;
  }
  return schema;
}

// Adds the type to the components, and all that it leads to.
void AddType(const SchemaType& type, Json& components) {
  const std::string name = ComponentName(type);
  if (components.contains(name)) return;
  components[name] = {{"type", "object"}};
  Json properties = Json::object();
  for (const SchemaField& field : type.fields) {
    properties[field.name] = FieldSchema(field, components);
  }
  components[name]["properties"] = std::move(properties);
}

Json ValueSchema(const SchemaField& field, Json& components) {
  const Json kDateTime = {{"type", "string"}, {"format", "date-time"}};
  switch (field.kind) {
    case Kind::kString:
      return {{"type", "string"}};
    case Kind::kBool:
      return {{"type", "boolean"}};
    case Kind::kInt32:
      return {{"type", "integer"}, {"format", "int32"}};
    case Kind::kInt64:
      return {{"type", "integer"}, {"format", "int64"}};
    case Kind::kBytes:
      return {{"type", "string"}, {"format", "byte"}};
    case Kind::kQuantity:
      return Named("api.resource.Quantity",
                   {{"oneOf", {{{"type", "string"}}, {{"type", "number"}}}}},
                   components);
    case Kind::kTime:
      return Named("apis.meta.v1.Time", kDateTime, components);
    case Kind::kMicroTime:
      return Named("apis.meta.v1.MicroTime", kDateTime, components);
    case Kind::kIntOrString:
      return Named("util.intstr.IntOrString",
                   {{"format", "int-or-string"},
                    {"oneOf", {{{"type", "integer"}}, {{"type", "string"}}}}},
                   components);
    case Kind::kAny:
      return Named("runtime.RawExtension", {{"type", "object"}}, components);
    case Kind::kStruct:
      AddType(*field.type, components);
      return {{"allOf", Json::array({Ref(ComponentName(*field.type))})}};
  }
  return nullptr;
}

// The group, version and kind of what is read and written at a path.
Json GroupVersionKind(const std::string& group, const std::string& version,
                      const std::string& kind) {
  return {{"group", group}, {"version", version}, {"kind", kind}};
}

Json Parameter(const std::string& name, const std::string& in) {
  Json parameter = {
      {"name", name}, {"in", in}, {"schema", {{"type", "string"}}}};
  if (in == "path") parameter["required"] = true;
  return parameter;
}

Json Content(const std::vector<std::string>& types, const Json& schema) {
  Json content = Json::object();
  for (const std::string& type : types) content[type]["schema"] = schema;
  return {{"content", std::move(content)}};
}

// The parameters in a path's text, for all of its methods.
Json PathParameters(const std::string& path) {
  Json parameters = Json::array();
  for (const char* name : {"name", "namespace"}) {
    if (path.find("{" + std::string(name) + "}") == path.npos) continue;
    parameters.push_back(Parameter(name, "path"));
  }
  return parameters;
}

// Adds the method of the path that the verb stands for.
void AddOperation(const std::string& verb, const Json& kind,
                  const std::string& path, Json& paths) {
  static const std::map<std::string, std::string> kMethods = {
      {"create", "post"}, {"delete", "delete"}, {"deletecollection", "delete"},
      {"get", "get"},     {"list", "get"},      {"patch", "patch"},
      {"update", "put"}};
  const auto method = kMethods.find(verb);
  if (method == kMethods.end()) return;  // a watch is a list
  Json operation = {{"x-kubernetes-group-version-kind", kind},
                    {"x-kubernetes-action", verb},
                    {"responses", {{"200", {{"description", "OK"}}}}}};
  const Json object = {{"type", "object"}};
  if (method->second == "post" || method->second == "put") {
    operation["requestBody"] = Content({"*/*"}, object);
  } else if (method->second == "patch") {
    operation["requestBody"] =
        Content({"application/json-patch+json", "application/merge-patch+json",
                 "application/strategic-merge-patch+"
                 "json"},
                object);
  }
  if (operation.contains("requestBody")) {
    for (const char* name : {"dryRun", "fieldManager", "fieldValidation"}) {
      operation["parameters"].push_back(Parameter(name, "query"));
    }
  }
  paths[path]["parameters"] = PathParameters(path);
  paths[path][method->second] = std::move(operation);
}

void AddPaths(const ResourceRow& row, Json& paths) {
  const std::string root =
      (row.group.empty() ? "/api/" : "/apis/") + row.ApiVersion() + "/";
  const std::string collection =
      root + (row.namespaced ? "namespaces/{namespace}/" : "") + row.plural;
  const std::string item = collection + "/{name}";
  const Json kind = GroupVersionKind(row.group, row.version, row.kind);
  for (const std::string& verb : row.verbs) {
    const bool of_all =
        verb == "create" || verb == "list" || verb == "deletecollection";
    AddOperation(verb, kind, of_all ? collection : item, paths);
    if (verb == "list" && row.namespaced) {
      AddOperation(verb, kind, root + row.plural, paths);
    }
  }
  for (const std::string& name : row.subresources) {
    const Subresource& part = GetSubresource(name);
    const std::string path = std::string(item).append("/").append(name);
    const bool own = part.version.empty();
    const Json part_kind = GroupVersionKind(
        own ? row.group : part.group, own ? row.version : part.version,
        part.kind.empty() ? row.kind : part.kind);
    for (const std::string& verb : part.verbs) {
      AddOperation(verb, part_kind, path, paths);
    }
  }
}

// By their paths: "api/v1", "apis/apps/v1".
using Documents = std::map<std::string, Json, std::less<>>;

std::string DocumentPath(std::string_view group, std::string_view version) {
  std::string path = group.empty() ? "api" : "apis/";
  return path.append(group).append("/").append(version);
}

const Documents& AllDocuments() {
  static const Documents kDocuments = [] {
    Documents documents;
    for (const ResourceRow& row : AllResources()) {
      Json& document = documents[DocumentPath(row.group, row.version)];
      document["openapi"] = "3.0.0";
      document["info"] = {{"title", "Kubernetes"}, {"version", "unversioned"}};
      AddPaths(row, document["paths"]);
      const SchemaType& type = *Schema::Get().Find(row.ApiVersion(), row.kind);
      Json& components = document["components"]["schemas"];
      AddType(type, components);
      components[ComponentName(type)]["x-kubernetes-group-version-kind"] =
          Json::array({GroupVersionKind(row.group, row.version, row.kind)});
    }
    return documents;
  }();
  return kDocuments;
}

}  // namespace

const Json& OpenApiV3Index() {
  static const Json kIndex = [] {
    Json paths = Json::object();
    for (const auto& [path, document] : AllDocuments()) {
      const std::size_t hash = std::hash<std::string>()(document.dump());
      paths[path]["serverRelativeURL"] =
          "/openapi/v3/" + path + "?hash=" + std::to_string(hash);
    }
    return Json{{"paths", std::move(paths)}};
  }();
  return kIndex;
}

const Json& OpenApiV3(std::string_view group, std::string_view version) {
  static const Json kNone;
  const auto found = AllDocuments().find(DocumentPath(group, version));
  return found == AllDocuments().end() ? kNone : found->second;
}

}  // namespace minisched::apiserver
