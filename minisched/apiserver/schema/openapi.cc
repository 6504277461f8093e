#include "minisched/apiserver/schema/openapi.h"

#include <string>

#include "minisched/apiserver/resources.h"

namespace minisched::apiserver {
namespace {

// "/api/v1", "/apis/apps/v1"
std::string RootOf(const ResourceRow& row) {
  return (row.group.empty() ? "/api/" : "/apis/") + row.ApiVersion();
}

// The PATCH of an object, by whose parameters kubectl goes for all verbs.
Json PatchOf(const ResourceRow& row) {
  Json parameters = Json::array();
  for (const char* name : {"dryRun", "fieldManager", "fieldValidation"}) {
    parameters.push_back(
        {{"name", name}, {"in", "query"}, {"schema", {{"type", "string"}}}});
  }
  return {
      {"x-kubernetes-action", "patch"},
      {"x-kubernetes-group-version-kind",
       {{"group", row.group}, {"version", row.version}, {"kind", row.kind}}},
      {"parameters", std::move(parameters)},
      {"responses", {{"200", {{"description", "OK"}}}}}};
}

}  // namespace

Json OpenApiV3Index() {
  Json paths = Json::object();
  for (const ResourceRow& row : AllResources()) {
    const std::string root = RootOf(row);
    paths[root.substr(1)] = {{"serverRelativeURL", "/openapi/v3" + root}};
  }
  return {{"paths", std::move(paths)}};
}

Json OpenApiV3(std::string_view group, std::string_view version) {
  Json paths;
  for (const ResourceRow& row : AllResources()) {
    if (row.group != group || row.version != version) continue;
    const std::string scope = row.namespaced ? "/namespaces/{namespace}/" : "/";
    paths[RootOf(row) + scope + row.plural + "/{name}"]["patch"] = PatchOf(row);
  }
  if (paths.is_null()) return nullptr;
  return {{"openapi", "3.0.0"},
          {"info", {{"title", "Kubernetes"}, {"version", "unversioned"}}},
          {"paths", std::move(paths)}};
}

}  // namespace minisched::apiserver
