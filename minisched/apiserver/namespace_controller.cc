#include "minisched/apiserver/namespace_controller.h"

#include <utility>
#include <vector>

namespace minisched::apiserver {
namespace {

constexpr char kServiceAccount[] = "default";
constexpr char kRootCa[] = "kube-root-ca.crt";

const ResourceRow& Namespaces() { return GetResource("", "namespaces"); }

bool HasObjectsIn(const Store& store, const std::string& collection,
                  const std::string& ns) {
  const Store::Collection& all = store.All(collection);
  const auto first = all.lower_bound({ns, ""});
  return first != all.end() && first->first.first == ns;
}

}  // namespace

NamespaceController::NamespaceController(Registry& registry)
    : Controller(registry) {
  Watch(CollectionOf(Namespaces()),
        [this](const Event& event) { Enqueue(*event.object); });
  Watch("", [this](const Event& event) {
    if (event.type != Event::Type::kDeleted) return;
    const auto [row, ns, name] = KeyOf(*event.object);
    if (name == kServiceAccount || name == kRootCa ||
        !HasObjectsIn(store_, CollectionOf(*row), ns)) {
      Enqueue({&Namespaces(), "", ns});
    }
  });
  for (const char* name :
       {"default", "kube-node-lease", "kube-public", "kube-system"}) {
    Ensure("namespaces", "", {{"metadata", {{"name", name}}}});
  }
}

void NamespaceController::Sync(const ObjectKey& key) {
  const Object found = Find(key);
  if (!found) return;
  if (IsTerminating(*found)) return Empty(key);
  Ensure("serviceaccounts", key.name,
         {{"metadata", {{"name", kServiceAccount}}}});
  // There is no CA: this server is spoken to without TLS.
  Ensure("configmaps", key.name,
         {{"metadata", {{"name", kRootCa}}}, {"data", {{"ca.crt", ""}}}});
}

void NamespaceController::Ensure(const char* plural, const std::string& ns,
                                 Json object) {
  const ResourceRow& row = GetResource("", plural);
  if (Find({&row, ns, NameOf(object)})) return;
  registry_.Create(row, ns, std::move(object));
}

void NamespaceController::Empty(const ObjectKey& key) {
  bool empty = true;
  for (const ResourceRow& row : AllResources()) {
    const std::string collection = CollectionOf(row);
    for (const Object& object : ObjectsIn(store_, collection, key.name)) {
      if (IsTerminating(*object)) continue;
      registry_.Delete(row, key.name, NameOf(*object),
                       {.propagation = "Background"});
    }
    empty = empty && !HasObjectsIn(store_, collection, key.name);
  }
  if (!empty) return;  // Whatever is last to go makes this be called again.
  Edit(key, "finalize", [](Json& edited) {
    RemoveValue(edited["spec"]["finalizers"], "kubernetes");
  });
}

}  // namespace minisched::apiserver
