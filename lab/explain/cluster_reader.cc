#include "lab/explain/cluster_reader.h"

#include <fmt/format.h>

#include "lab/apiserver/resources.h"
#include "lab/explain/dump_reader.h"
#include "lab/explain/errors.h"
#include "lab/explain/kept_fields.h"
#include "minisched/api/names.h"

namespace minisched::explain {
namespace {

using apiserver::ResourceRow;

constexpr char kPageSize[] = "500";
// How often a list begins again because the server has dropped its state.
constexpr int kMaxExpirations = 3;

// Reads the objects of the list at a path. The selector may be "".
void ReadPages(Client& client, const std::string& path,
               const std::string& field_selector, Objects& objects,
               const std::stop_token& stop) {
  std::string next;
  do {
    Client::Request request{
        .method = "GET", .path = path, .query = {{"limit", kPageSize}}};
    if (!field_selector.empty()) {
      request.query.emplace_back("fieldSelector", field_selector);
    }
    if (!next.empty()) request.query.emplace_back("continue", next);
    next = ReadPage(client.Send(std::move(request), stop),
                    client.config().source, objects);
  } while (!next.empty());
}

// Reads all objects of a kind. Returns a warning, or "".
std::string ReadKind(Client& client, const ResourceRow& row, Objects& objects,
                     const std::stop_token& stop) {
  const ApiResource resource{row.group, row.version, row.plural, row.kind,
                             row.namespaced};
  const char* const selector =
      row.kind == "Pod" ? "status.phase!=Succeeded,status.phase!=Failed" : "";
  for (int expirations = 0;; ++expirations) {
    try {
      ReadPages(client, resource.Path(""), selector, objects, stop);
      return "";
    } catch (const ApiError& error) {
      if (error.code() == 410 && expirations < kMaxExpirations) {
        // Some objects may be gone when the list begins again.
        objects.RemoveKind(row.kind);
        continue;
      }
      if (error.code() == 404) return "";  // the server lacks the kind
      if (error.code() == 401) {
        throw CannotTell(fmt::format(
            "{} refuses the credentials of {}: {}: log in again, or pass "
            "another --kubeconfig",
            client.config().server, client.config().source, error.what()));
      }
      const std::string what =
          fmt::format("{}: cannot list {}: {}", client.config().server,
                      row.QualifiedName(), error.what());
      if (error.code() != 403) throw CannotTell(what);
      if (row.kind == "Node" || row.kind == "Pod") {
        throw CannotTell(what +
                         ": ask for the rights of docs/reference/explain.md");
      }
      return what + ": the answer leaves them out";
    }
  }
}

}  // namespace

std::vector<std::string> ReadCluster(Client& client, Objects& objects,
                                     const std::stop_token& stop) {
  std::vector<std::string> warnings;
  for (const ResourceRow* row : KeptKinds()) {
    std::string warning = ReadKind(client, *row, objects, stop);
    if (!warning.empty()) warnings.push_back(std::move(warning));
  }
  return warnings;
}

void ReadPods(Client& client, const NamespacedName& name, Objects& objects,
              const std::stop_token& stop) {
  const std::string& ns = name.namespace_name;
  const bool may_exist = CheckDns1123Subdomain(name.name).empty() &&
                         (ns.empty() || CheckDns1123Label(ns).empty());
  if (!may_exist) return;  // the server would refuse the selector or the path
  ReadPages(client, Pod::kResource.Path(ns), "metadata.name=" + name.name,
            objects, stop);
}

}  // namespace minisched::explain
