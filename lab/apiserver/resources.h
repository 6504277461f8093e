#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lab/apiserver/kinds/columns.h"
#include "lab/apiserver/kinds/reviews.h"
#include "lab/apiserver/strategy.h"

namespace minisched::apiserver {

// One resource that this server serves. To add a resource, add a row
// (resources.cc) and its type to the schema.
struct ResourceRow {
  std::string group;  // "" for the core group
  std::string version = "v1";
  std::string plural;  // "pods"
  std::string kind;    // "Pod"
  bool namespaced = true;
  std::vector<std::string> short_names;
  std::vector<std::string> categories;
  // The verbs of the resource, without those of its subresources.
  std::vector<std::string> verbs = {"create", "delete", "deletecollection",
                                    "get",    "list",   "patch",
                                    "update", "watch"};
  // The names of its Subresources, in alphabetical order. A kind with a status
  // has "status".
  std::vector<std::string> subresources;
  // The fields that a field selector can name besides metadata.name and
  // metadata.namespace. Each is the path to the value: "spec.nodeName".
  std::vector<std::string> fields;
  // DELETE returns the object instead of a Status, even if the object is gone.
  // This is upstream's ReturnDeletedObject.
  bool returns_deleted = false;
  // Answers a create instead of storing the object. nullptr for kinds that are
  // stored.
  Review review = nullptr;
  // Rows in AllResources() always have both.
  const Strategy* strategy = nullptr;
  const Columns* columns = nullptr;

  // Returns "v1" or "apps/v1", as objects carry it.
  std::string ApiVersion() const;
  // Returns "pods" or "deployments.apps", the name in messages.
  std::string QualifiedName() const;
  // Returns "pod".
  std::string Singular() const;
  bool HasSubresource(std::string_view name) const;
};

// A path below an object: a part of the object, or an action on it.
struct Subresource {
  std::vector<std::string> verbs;
  // The kind that is read and written there: "autoscaling", "v1", "Scale". All
  // are "" for the object itself; group and version are "" if they are the
  // object's.
  std::string group;
  std::string version;
  std::string kind;
};

// Returns a subresource. REQUIRES: `name` is "binding", "eviction", "finalize",
// "scale" or "status".
const Subresource& GetSubresource(std::string_view name);

// Returns all resources, in the order of discovery. They live as long as the
// program.
const std::vector<ResourceRow>& AllResources();

// Return nullptr if there is no such resource.
const ResourceRow* FindResource(std::string_view group,
                                std::string_view version,
                                std::string_view plural);
const ResourceRow* FindKind(std::string_view api_version,
                            std::string_view kind);
// Returns the resource of a group and plural name. Throws std::out_of_range if
// there is none.
const ResourceRow& GetResource(std::string_view group, std::string_view plural);

}  // namespace minisched::apiserver
