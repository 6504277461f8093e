#include "minisched/apiserver/discovery.h"

#include <utility>
#include <vector>

#include "minisched/apiserver/errors.h"
#include "minisched/apiserver/resources.h"

namespace minisched::apiserver {
namespace {

// The groups but for the core group, in their order. Each has one version.
std::vector<const ResourceRow*> FirstOfGroups() {
  std::vector<const ResourceRow*> rows;
  for (const ResourceRow& row : AllResources()) {
    if (row.group.empty()) continue;
    if (rows.empty() || rows.back()->group != row.group) rows.push_back(&row);
  }
  return rows;
}

// An APIGroup. Those within a list don't say what they are.
Json GroupOf(const ResourceRow& row) {
  const Json version = {{"groupVersion", row.ApiVersion()},
                        {"version", row.version}};
  return {{"name", row.group},
          {"versions", Json::array({version})},
          {"preferredVersion", version}};
}

// The APIResources of a row: itself and its subresources.
void AddResources(const ResourceRow& row, Json& resources) {
  Json& resource = resources.emplace_back(Json{{"name", row.plural},
                                               {"singularName", row.Singular()},
                                               {"namespaced", row.namespaced},
                                               {"kind", row.kind},
                                               {"verbs", row.verbs}});
  if (!row.short_names.empty()) resource["shortNames"] = row.short_names;
  if (!row.categories.empty()) resource["categories"] = row.categories;
  for (const std::string& name : row.subresources) {
    const Subresource& part = GetSubresource(name);
    Json& sub = resources.emplace_back(
        Json{{"name", row.plural + "/" + name},
             {"singularName", ""},
             {"namespaced", row.namespaced},
             {"kind", part.kind.empty() ? row.kind : part.kind},
             {"verbs", part.verbs}});
    if (!part.group.empty()) {
      sub["group"] = part.group;
      sub["version"] = part.version;
    }
  }
}

}  // namespace

Json ApiVersions(const std::string& server_address) {
  const Json any_client = {{"clientCIDR", "0.0.0.0/0"},
                           {"serverAddress", server_address}};
  return {{"kind", "APIVersions"},
          {"versions", Json::array({"v1"})},
          {"serverAddressByClientCIDRs", Json::array({any_client})}};
}

Json ApiGroupList() {
  Json groups = Json::array();
  for (const ResourceRow* row : FirstOfGroups()) {
    groups.push_back(GroupOf(*row));
  }
  return {{"kind", "APIGroupList"},
          {"apiVersion", "v1"},
          {"groups", std::move(groups)}};
}

Json ApiGroup(std::string_view group) {
  for (const ResourceRow* row : FirstOfGroups()) {
    if (row->group != group) continue;
    Json document = GroupOf(*row);
    document["kind"] = "APIGroup";
    document["apiVersion"] = "v1";
    return document;
  }
  throw PathNotFound();
}

Json ApiResourceList(std::string_view group, std::string_view version) {
  Json document = {{"kind", "APIResourceList"}};
  for (const ResourceRow& row : AllResources()) {
    if (row.group != group || row.version != version) continue;
    document["groupVersion"] = row.ApiVersion();
    AddResources(row, document["resources"]);
  }
  if (!document.contains("resources")) throw PathNotFound();
  // The core group goes without, as it did before there were others.
  if (!group.empty()) document["apiVersion"] = "v1";
  return document;
}

Json VersionInfo() {
  // Clients go by the numbers; what follows the "+" doesn't count for them.
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

}  // namespace minisched::apiserver
