#include <utility>

#include "lab/apiserver/controllers/controllers.h"

namespace minisched::apiserver {
namespace {

const ResourceRow& Namespaces() { return GetResource("", "namespaces"); }

class NamespaceController : public Controller {
 public:
  explicit NamespaceController(Registry& registry) : Controller(registry) {
    Watch(CollectionOf(Namespaces()),
          [this](const Event& event) { Enqueue(*event.object); });
    // What is gone may have been the last, or one that each has to have.
    Watch("", [this](const Event& event) {
      const std::string ns = NamespaceOf(*event.object);
      if (event.type != Event::Type::kDeleted || ns.empty()) return;
      Enqueue({&Namespaces(), "", ns}, kMoment);
    });
    EnsureSystemNamespaces();
  }

 private:
  void Sync(const ObjectKey& key) override {
    const Object found = Find(key);
    if (!found) return EnsureSystemNamespaces();
    if (IsTerminating(*found)) return Empty(key);
    Ensure("serviceaccounts", key.name, {{"metadata", {{"name", "default"}}}});
    // There is no CA: this server is spoken to without TLS.
    Ensure("configmaps", key.name,
           {{"metadata", {{"name", "kube-root-ca.crt"}}},
            {"data", {{"ca.crt", ""}}}});
  }

  // Not all of them are safe from being deleted.
  void EnsureSystemNamespaces() {
    for (const char* name :
         {"default", "kube-node-lease", "kube-public", "kube-system"}) {
      Ensure("namespaces", "", {{"metadata", {{"name", name}}}});
    }
  }

  // Makes the object, of that kind and name, unless it is there.
  void Ensure(const char* plural, const std::string& ns, Json object) {
    const ResourceRow& row = GetResource("", plural);
    if (Find({&row, ns, NameOf(object)})) return;
    registry_.Create(row, ns, std::move(object));
  }

  void Empty(const ObjectKey& key) {
    bool empty = true;
    for (const ResourceRow& row : AllResources()) {
      for (const Object& object :
           Under(store_.All(CollectionOf(row)), key.name)) {
        empty &= !IsTerminating(*object) &&
                 registry_.Delete(row, key.name, NameOf(*object)).gone;
      }
    }
    if (!empty) return;  // Whatever is last to go makes this be called again.
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
