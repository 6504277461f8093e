#include "minisched/apiserver/discovery.h"

#include <utility>

#include "minisched/apiserver/resources.h"

namespace minisched::apiserver {
namespace {

Json VersionInfo() {
  return {{"major", "1"},
          {"minor", "36"},
          {"gitVersion", "v1.36.3+minisched"},
          {"gitCommit", ""},
          {"gitTreeState", ""},
          {"buildDate", ""},
          {"goVersion", ""},
          {"compiler", "c++"},
          {"platform", "linux"}};
}

Json ApiVersions(const std::string& server_address) {
  const Json any_client = {{"clientCIDR", "0.0.0.0/0"},
                           {"serverAddress", server_address}};
  return {{"kind", "APIVersions"},
          {"versions", Json::array({"v1"})},
          {"serverAddressByClientCIDRs", Json::array({any_client})}};
}

// The APIGroup of the row. Those within a list don't say what they are.
Json GroupOf(const ResourceRow& row) {
  const Json version = {{"groupVersion", row.ApiVersion()},
                        {"version", row.version}};
  return {{"name", row.group},
          {"versions", Json::array({version})},
          {"preferredVersion", version}};
}

// Adds the row to the APIResourceList of its group.
void AddResource(const ResourceRow& row, Json& list) {
  list["kind"] = "APIResourceList";
  list["groupVersion"] = row.ApiVersion();
  if (!row.group.empty()) list["apiVersion"] = "v1";
  Json resource = {{"name", row.plural},
                   {"singularName", row.Singular()},
                   {"namespaced", row.namespaced},
                   {"kind", row.kind},
                   {"verbs", row.verbs}};
  if (!row.short_names.empty()) resource["shortNames"] = row.short_names;
  if (!row.categories.empty()) resource["categories"] = row.categories;
  list["resources"].push_back(std::move(resource));
  for (const std::string& name : row.subresources) {
    const Subresource& part = GetSubresource(name);
    Json sub = {{"name", row.plural + "/" + name},
                {"singularName", ""},
                {"namespaced", row.namespaced},
                {"kind", part.kind.empty() ? row.kind : part.kind},
                {"verbs", part.verbs}};
    if (!part.group.empty()) {
      sub.update({{"group", part.group}, {"version", part.version}});
    }
    list["resources"].push_back(std::move(sub));
  }
}

// Adds the row to the OpenAPI document of its group, whose paths start with
// `root`: the PATCH of an object, by whose parameters kubectl goes for all
// verbs.
void AddPatch(const ResourceRow& row, const std::string& root, Json& document) {
  document["openapi"] = "3.0.0";
  document["info"] = {{"title", "Kubernetes"}, {"version", "unversioned"}};
  Json parameters = Json::array();
  for (const char* name : {"dryRun", "fieldManager", "fieldValidation"}) {
    parameters.push_back(
        {{"name", name}, {"in", "query"}, {"schema", {{"type", "string"}}}});
  }
  const std::string scope = row.namespaced ? "/namespaces/{namespace}/" : "/";
  document["paths"][root + scope + row.plural + "/{name}"]["patch"] = {
      {"x-kubernetes-action", "patch"},
      {"x-kubernetes-group-version-kind",
       {{"group", row.group}, {"version", row.version}, {"kind", row.kind}}},
      {"parameters", std::move(parameters)},
      {"responses", {{"200", {{"description", "OK"}}}}}};
}

}  // namespace

std::map<std::string, Json> DiscoveryDocuments(
    const std::string& server_address) {
  std::map<std::string, Json> all = {
      {"/version", VersionInfo()},
      {"/api", ApiVersions(server_address)},
      {"/apis", {{"kind", "APIGroupList"}, {"apiVersion", "v1"}}}};
  for (const ResourceRow& row : AllResources()) {
    const std::string root =
        (row.group.empty() ? "/api/" : "/apis/") + row.ApiVersion();
    AddResource(row, all[root]);
    AddPatch(row, root, all["/openapi/v3" + root]);
    all["/openapi/v3"]["paths"][root.substr(1)]["serverRelativeURL"] =
        "/openapi/v3" + root;
    const std::string group = "/apis/" + row.group;
    if (row.group.empty() || all.contains(group)) continue;
    all["/apis"]["groups"].push_back(GroupOf(row));
    all[group] = GroupOf(row);
    all[group].update({{"kind", "APIGroup"}, {"apiVersion", "v1"}});
  }
  return all;
}

}  // namespace minisched::apiserver
