#include "minisched/apiserver/owner_controller.h"

#include <utility>

#include "minisched/apiserver/selectors.h"

namespace minisched::apiserver {
namespace {

// Where an Index keeps the objects that belong to nobody: no uid is like that.
std::string OrphansOf(const std::string& ns) { return "orphans in " + ns; }

std::vector<std::string> ByController(const Json& object) {
  const Json& controller = ControllerOf(object);
  return {controller.is_null() ? OrphansOf(NamespaceOf(object))
                               : GetString(controller, "uid")};
}

bool IsSelected(const Json& owner, const Json& child) {
  return Selects(Get(owner, "spec", "selector"),
                 Get(child, "metadata", "labels"));
}

}  // namespace

const Json& ControllerOf(const Json& object) {
  static const Json& none = *new Json();
  for (const Json& owner : Get(object, "metadata", "ownerReferences")) {
    if (GetBool(owner, "controller")) return owner;
  }
  return none;
}

Json ReferenceToController(const Json& owner) {
  return {{"apiVersion", owner["apiVersion"]},
          {"kind", owner["kind"]},
          {"name", NameOf(owner)},
          {"uid", UidOf(owner)},
          {"controller", true},
          {"blockOwnerDeletion", true}};
}

bool IsActive(const Json& object) {
  const Json& phase = Get(object, "status", "phase");
  return !IsTerminating(object) && phase != "Succeeded" && phase != "Failed";
}

OwnerController::OwnerController(Registry& registry, const ResourceRow& row,
                                 const ResourceRow& child_row)
    : Controller(registry),
      row_(row),
      child_row_(child_row),
      children_(store_, CollectionOf(child_row), ByController) {
  Watch(CollectionOf(row), [this](const Event& e) { Enqueue(*e.object); });
  Watch(CollectionOf(child_row), [this](const Event& e) {
    EnqueueOwner(*e.object);
    if (e.previous && ControllerOf(*e.previous) != ControllerOf(*e.object)) {
      EnqueueOwner(*e.previous);
    }
  });
}

void OwnerController::EnqueueOwner(const Json& child) {
  const std::string ns = NamespaceOf(child);
  const Json& controller = ControllerOf(child);
  if (!controller.is_null()) {
    if (Get(controller, "kind") != row_.kind) return;
    return EnqueueSoon({&row_, ns, GetString(controller, "name")},
                       children_[GetString(controller, "uid")].size());
  }
  for (const Object& owner : ObjectsIn(store_, CollectionOf(row_), ns)) {
    if (!IsSelected(*owner, child)) continue;
    EnqueueSoon(KeyOf(*owner), children_[OrphansOf(ns)].size());
  }
}

std::vector<Object> OwnerController::Claim(const Json& owner) {
  std::vector<Object> claimed;
  std::vector<Object> released;
  std::vector<Object> adopted;
  for (const auto& [uid, child] : children_[UidOf(owner)]) {
    (IsSelected(owner, *child) ? claimed : released).push_back(child);
  }
  if (IsTerminating(owner)) return claimed;
  for (const auto& [uid, child] : children_[OrphansOf(NamespaceOf(owner))]) {
    if (IsActive(*child) && IsSelected(owner, *child)) adopted.push_back(child);
  }
  for (const Object& child : released) {
    Edit(KeyOf(*child), "", [&](Json& edited) {
      RemoveValue(edited["metadata"]["ownerReferences"], ControllerOf(*child));
    });
  }
  for (const Object& child : adopted) {
    Edit(KeyOf(*child), "", [&](Json& edited) {
      edited["metadata"]["ownerReferences"].push_back(
          ReferenceToController(owner));
    });
    claimed.push_back(Find(KeyOf(*child)));
  }
  return claimed;
}

}  // namespace minisched::apiserver
