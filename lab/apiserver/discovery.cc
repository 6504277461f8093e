#include "lab/apiserver/discovery.h"

#include <algorithm>
#include <utility>

#include "lab/apiserver/accept.h"
#include "lab/apiserver/resources.h"

namespace minisched::apiserver {
namespace {

Json VersionInfo() {
  return {{"major", "1"},
          {"minor", "37"},
          {"gitVersion", "v1.37.2+minisched"},
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

// Returns the APIGroup of the row's group, without kind and apiVersion, as in
// an APIGroupList.
Json GroupOf(const ResourceRow& row) {
  const Json version = {{"groupVersion", row.ApiVersion()},
                        {"version", row.version}};
  return {{"name", row.group},
          {"versions", Json::array({version})},
          {"preferredVersion", version}};
}

// Adds the resource and its subresources to `list`, the APIResourceList of the
// resource's group.
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

// Returns the responseKind of a resource or subresource in the aggregated form.
// An empty group and version stand for those of the resource.
Json ResponseKind(const std::string& group, const std::string& version,
                  const std::string& kind) {
  return {{"group", group}, {"version", version}, {"kind", kind}};
}

// Returns the APIResourceDiscovery of the row.
Json ResourceDiscovery(const ResourceRow& row) {
  Json resource = {{"resource", row.plural},
                   {"responseKind", ResponseKind("", "", row.kind)},
                   {"scope", row.namespaced ? "Namespaced" : "Cluster"},
                   {"singularResource", row.Singular()},
                   {"verbs", row.verbs}};
  if (!row.short_names.empty()) resource["shortNames"] = row.short_names;
  if (!row.categories.empty()) resource["categories"] = row.categories;
  for (const std::string& name : row.subresources) {
    const Subresource& part = GetSubresource(name);
    resource["subresources"].push_back(
        {{"subresource", name},
         {"responseKind",
          ResponseKind(part.group, part.version,
                       part.kind.empty() ? row.kind : part.kind)},
         {"verbs", part.verbs}});
  }
  return resource;
}

// Adds the row to `list`, an APIGroupDiscoveryList. REQUIRES: the rows of a
// group are added consecutively, with no row of another group between them.
void AddDiscovery(const ResourceRow& row, Json& list) {
  list["kind"] = "APIGroupDiscoveryList";
  list["apiVersion"] = "apidiscovery.k8s.io/v2";
  list["metadata"] = Json::object();
  Json& groups = list["items"];
  if (groups.empty() || NameOf(groups.back()) != row.group) {
    Json metadata = Json::object();
    if (!row.group.empty()) metadata["name"] = row.group;
    groups.push_back({{"metadata", std::move(metadata)},
                      {"versions",
                       {{{"version", row.version},
                         {"freshness", "Current"},
                         {"resources", Json::array()}}}}});
  }
  groups.back()["versions"][0]["resources"].push_back(ResourceDiscovery(row));
}

// Adds a PATCH of the row's objects to `document`, the OpenAPI document of the
// row's group. The paths in the document start with `root`. The row need not
// support PATCH: kubectl looks for query parameters only in PATCH, also before
// it creates or replaces an object.
void AddPatch(const ResourceRow& row, const std::string& root, Json& document) {
  document["openapi"] = "3.0.0";
  document["info"] = {{"title", "Kubernetes"}, {"version", "unversioned"}};
  // Without any schema, `kubectl explain` reports that it finds none.
  document["components"]["schemas"] = Json::object();
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

std::map<std::string, Json> AggregatedDiscoveryDocuments() {
  std::map<std::string, Json> all;
  for (const ResourceRow& row : AllResources()) {
    AddDiscovery(row, all[row.group.empty() ? "/api" : "/apis"]);
  }
  return all;
}

bool AcceptsAggregatedDiscovery(const Request& request) {
  return std::ranges::any_of(
      AcceptedForms(request), [](const AcceptedForm& form) {
        return form.Is("APIGroupDiscoveryList", "apidiscovery.k8s.io", "v2");
      });
}

}  // namespace minisched::apiserver
