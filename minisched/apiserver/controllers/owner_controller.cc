#include "minisched/apiserver/controllers/owner_controller.h"

#include <utility>

namespace minisched::apiserver {

const Json& ControllerOf(const Json& object) {
  static const Json& none = *new Json();
  for (const Json& owner : Get(object, "metadata", "ownerReferences")) {
    if (GetBool(owner, "controller")) return owner;
  }
  return none;
}

std::int64_t Replicas(const Json& workload) {
  return GetInt(workload, "spec", "replicas");
}

std::int64_t Scaled(const Json& value, std::int64_t total, bool round_up) {
  if (!value.is_string()) return GetInt(value);
  const std::int64_t percent = std::stoi(value.get<std::string>());
  return (total * percent + (round_up ? 99 : 0)) / 100;
}

OwnerController::OwnerController(Registry& registry, const ResourceRow& row,
                                 const ResourceRow& child_row)
    : Controller(registry),
      child_row_(child_row),
      children_(store_, CollectionOf(child_row), [](const Json& child) {
        return std::vector{GetString(ControllerOf(child), "uid")};
      }) {
  Watch(CollectionOf(row), [this](const Event& e) { Enqueue(*e.object); });
  Watch(CollectionOf(child_row), [this, &row](const Event& e) {
    for (const Object& child : {e.previous, e.object}) {
      if (!child) continue;
      const Json& owner = ControllerOf(*child);
      if (Get(owner, "kind") != row.kind) continue;
      EnqueueSoon({&row, NamespaceOf(*child), GetString(owner, "name")});
    }
  });
}

std::vector<Object> OwnerController::ChildrenOf(const Json& owner) const {
  std::vector<Object> children;
  for (const auto& [uid, child] : children_[UidOf(owner)]) {
    children.push_back(child);
  }
  return children;
}

Object OwnerController::CreateChild(const Json& owner, Json child) {
  child["metadata"]["ownerReferences"] = {{{"apiVersion", owner["apiVersion"]},
                                           {"kind", owner["kind"]},
                                           {"name", NameOf(owner)},
                                           {"uid", UidOf(owner)},
                                           {"controller", true},
                                           {"blockOwnerDeletion", true}}};
  return registry_.Create(child_row_, NamespaceOf(owner), std::move(child));
}

}  // namespace minisched::apiserver
