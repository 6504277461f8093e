#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lab/apiserver/kinds/columns.h"
#include "lab/apiserver/kinds/reviews.h"
#include "lab/apiserver/strategy.h"

namespace minisched::apiserver {

// One resource that this server serves: all there is to say about it. Adding
// a resource is adding a row (resources.cc), and its type to the schema.
struct ResourceRow {
  std::string group;  // "" for the core group
  std::string version = "v1";
  std::string plural;  // "pods"
  std::string kind;    // "Pod"
  bool namespaced = true;
  std::vector<std::string> short_names;
  std::vector<std::string> categories;
  // What it can be asked for, its subresources aside.
  std::vector<std::string> verbs = {"create", "delete", "deletecollection",
                                    "get",    "list",   "patch",
                                    "update", "watch"};
  // Names of Subresources, in their alphabetical order. What has a status has
  // "status".
  std::vector<std::string> subresources;
  // The fields that a field selector can name, besides metadata.name and
  // metadata.namespace; each is the path to the value: "spec.nodeName".
  std::vector<std::string> fields;
  // DELETE returns the object even if the object is gone then, instead of a
  // Status. Upstream's ReturnDeletedObject.
  bool returns_deleted = false;
  // Answers a create instead of storing the object. nullptr for kinds that are
  // stored.
  Review review = nullptr;
  const Strategy* strategy = nullptr;  // of a row in AllResources(): never
  const Columns* columns = nullptr;    // the same

  // "v1", "apps/v1": as objects carry it.
  std::string ApiVersion() const;
  // "pods", "deployments.apps": as messages name it.
  std::string QualifiedName() const;
  // "pod"
  std::string Singular() const;
  bool HasSubresource(std::string_view name) const;
};

// What there may be below an object: a part of it, or an action on it.
struct Subresource {
  std::vector<std::string> verbs;
  // What is read and written there: "autoscaling", "v1", "Scale". All "" where
  // it is the object itself; the first two where they are the object's.
  std::string group;
  std::string version;
  std::string kind;
};

// One of "binding", "eviction", "finalize", "scale" and "status".
const Subresource& GetSubresource(std::string_view name);

// In the order of discovery. They live as long as the program.
const std::vector<ResourceRow>& AllResources();

// nullptr where there is none.
const ResourceRow* FindResource(std::string_view group,
                                std::string_view version,
                                std::string_view plural);
const ResourceRow* FindKind(std::string_view api_version,
                            std::string_view kind);
// The one of that group and plural name, which must be there.
const ResourceRow& GetResource(std::string_view group, std::string_view plural);

}  // namespace minisched::apiserver
