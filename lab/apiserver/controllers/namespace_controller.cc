#include <utility>

#include "lab/apiserver/controllers/controllers.h"

namespace minisched::apiserver {
namespace {

const ResourceRow& NamespaceRow() { return GetResource("", "namespaces"); }

class NamespaceController : public Controller {
 public:
  explicit NamespaceController(Registry& registry) : Controller(registry) {
    Watch(CollectionOf(NamespaceRow()),
          [this](const Event& event) { Enqueue(*event.object); });
    // The deleted object may have been the last object of a terminating
    // namespace, or an object that every namespace needs.
    Watch("", [this](const Event& event) {
      const std::string ns = NamespaceOf(*event.object);
      if (event.type != Event::Type::kDeleted || ns.empty()) return;
      Enqueue({&NamespaceRow(), "", ns}, kMoment);
    });
    EnsureSystemNamespaces();
  }

 private:
  void Sync(const ObjectKey& key) override {
    const Object found = Find(key);
    if (!found) return EnsureSystemNamespaces();
    if (IsTerminating(*found)) return DeleteContents(key);
    Ensure("serviceaccounts", key.name, {{"metadata", {{"name", "default"}}}});
    // This server has no TLS, so there is no CA.
    Ensure("configmaps", key.name,
           {{"metadata", {{"name", "kube-root-ca.crt"}}},
            {"data", {{"ca.crt", ""}}}});
  }

  // Creates the missing system namespaces. Clients can delete kube-node-lease.
  void EnsureSystemNamespaces() {
    for (const char* name :
         {"default", "kube-node-lease", "kube-public", "kube-system"}) {
      Ensure("namespaces", "", {{"metadata", {{"name", name}}}});
    }
  }

  // Creates the object unless an object of its kind and name exists.
  void Ensure(const char* plural, const std::string& ns, Json object) {
    const ResourceRow& row = GetResource("", plural);
    if (Find({&row, ns, NameOf(object)})) return;
    registry_.Create(row, ns, std::move(object));
  }

  // Deletes the objects in the namespace. When none is left, removes the
  // finalizer of the namespace, which lets the registry remove the namespace.
  void DeleteContents(const ObjectKey& key) {
    bool empty = true;
    for (const ResourceRow& row : AllResources()) {
      for (const Object& object :
           Under(store_.All(CollectionOf(row)), key.name)) {
        empty &= !IsTerminating(*object) &&
                 registry_.Delete(row, key.name, NameOf(*object)).gone;
      }
    }
    if (!empty) return;  // Sync() is called again after each deletion
    Edit(key, "finalize", [](Json& edited) {
      RemoveValue(edited["spec"]["finalizers"], "kubernetes");
    });
  }
};

}  // namespace

std::unique_ptr<Controller> NewNamespaceController(Registry& registry) {
  return std::make_unique<NamespaceController>(registry);
}

}  // namespace minisched::apiserver
