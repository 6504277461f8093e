#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lab/apiserver/kinds/columns.h"
#include "lab/apiserver/kinds/reviews.h"
#include "lab/apiserver/strategy.h"

namespace minisched::apiserver {

// A resource that this server serves. To add a resource, add an entry to
// kEntries (resources.cc), and the type of its objects to the schema.
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
  // The names of its Subresources, in alphabetical order. Each kind with a
  // status has "status", except reviews.
  std::vector<std::string> subresources;
  // The fields that a field selector can name besides metadata.name and
  // metadata.namespace. Each is the path of the value in the object, such as
  // "spec.nodeName". Some fields of events have other paths (list_options.cc).
  std::vector<std::string> fields;
  // True if a DELETE that removes an object returns the object instead of a
  // Status. This is upstream's ReturnDeletedObject. A DELETE after which the
  // object still exists always returns the object.
  bool returns_deleted = false;
  // True if upstream's controller of the kind makes pods, and this server has
  // no such controller.
  bool lacks_controller = false;
  // For reviews, the function that answers a create; reviews are not stored.
  // nullptr for other kinds.
  Review review = nullptr;
  // A warning in every response, or "".
  std::string deprecated;
  // Rows in AllResources() always have a strategy and columns.
  const Strategy* strategy = nullptr;
  const Columns* columns = nullptr;

  // Returns the apiVersion of the objects: "v1" or "apps/v1".
  std::string ApiVersion() const;
  // Returns the name of the resource in messages: "pods" or "deployments.apps".
  std::string QualifiedName() const;
  // Returns the kind in lower case: "pod".
  std::string Singular() const;
  bool HasSubresource(std::string_view name) const;
};

// A path below that of an object. It stands for a part of the object ("status")
// or for an action on the object ("eviction").
struct Subresource {
  std::vector<std::string> verbs;
  // The kind that clients read and write at the path: "autoscaling", "v1",
  // "Scale". All three are "" if it is the kind of the object. Group and
  // version are "" if they are those of the object.
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

// Return the resource, or nullptr if this server does not serve it.
const ResourceRow* FindResource(std::string_view group,
                                std::string_view version,
                                std::string_view plural);
const ResourceRow* FindKind(std::string_view api_version,
                            std::string_view kind);
// Returns the resource of a group and plural name. Throws std::out_of_range if
// there is none.
const ResourceRow& GetResource(std::string_view group, std::string_view plural);

}  // namespace minisched::apiserver
