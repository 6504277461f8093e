#pragma once

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "lab/apiserver/controllers/controllers.h"
#include "lab/apiserver/controllers/fake_loop_testing.h"
#include "lab/apiserver/registry.h"

namespace minisched::apiserver {

// The store, registry and namespace controller of a server, on a FakeLoop.
// Namespaced objects are in the namespace "default" unless a test names
// another.
class TestCluster {
 public:
  TestCluster() { loop.Run(); }

  // Creates an object. `object` may also be a string with JSON text.
  Object Create(const std::string& plural, Json object) {
    if (object.is_string()) object = Json::parse(object.get<std::string>());
    const ResourceRow& row = Row(plural);
    const std::string ns = NamespaceOf(object);
    return registry.Create(row, NamespaceFor(row, ns), std::move(object));
  }

  // Returns the object, or null if it does not exist.
  Json Get(const std::string& plural, const std::string& name,
           const std::string& ns = "default") {
    const ResourceRow& row = Row(plural);
    const Object found =
        store.Find(CollectionOf(row), {row.namespaced ? ns : "", name});
    return found ? *found : Json();
  }

  // Merges `patch` (RFC 7386) into the object.
  void Patch(const std::string& plural, const std::string& name,
             const Json& patch, std::string_view subresource = "",
             const std::string& ns = "default") {
    const ResourceRow& row = Row(plural);
    registry.Update(row, subresource, row.namespaced ? ns : "", name,
                    [&](Json object) {
                      object.merge_patch(patch);
                      return object;
                    });
  }

  void Delete(const std::string& plural, const std::string& name,
              const DeleteOptions& options = {},
              const std::string& ns = "default") {
    const ResourceRow& row = Row(plural);
    registry.Delete(row, row.namespaced ? ns : "", name, options);
  }

  std::vector<Json> All(const std::string& plural) {
    std::vector<Json> all;
    for (const auto& [key, object] : store.All(CollectionOf(Row(plural)))) {
      all.push_back(*object);
    }
    return all;
  }

  std::vector<std::string> Names(const std::string& plural) {
    std::vector<std::string> names;
    for (const Json& object : All(plural)) names.push_back(NameOf(object));
    return names;
  }

  // Returns "REASON: MESSAGE" of each event about an object of the kind, sorted
  // by the events' resourceVersions.
  std::vector<std::string> Events(const std::string& kind) {
    std::vector<Json> events = All("events");
    std::sort(events.begin(), events.end(), [](const auto& a, const auto& b) {
      return std::stoi(GetString(a, "metadata", "resourceVersion")) <
             std::stoi(GetString(b, "metadata", "resourceVersion"));
    });
    std::vector<std::string> texts;
    for (const Json& event : events) {
      if (GetString(event, "involvedObject", "kind") != kind) continue;
      texts.push_back(GetString(event, "reason") + ": " +
                      GetString(event, "message"));
    }
    return texts;
  }

  FakeLoop loop;
  Store store;
  Registry registry{store, loop};
  std::unique_ptr<Controller> namespaces = NewNamespaceController(registry);

 private:
  static const ResourceRow& Row(const std::string& plural) {
    for (const char* group :
         {"", "apps", "policy", "coordination.k8s.io", "storage.k8s.io"}) {
      if (const auto* row = FindResource(group, "v1", plural)) return *row;
    }
    throw std::out_of_range(plural);
  }
  static std::string NamespaceFor(const ResourceRow& row,
                                  const std::string& ns) {
    if (!row.namespaced) return "";
    return ns.empty() ? "default" : ns;
  }
};

// Returns a valid pod, changed by a merge patch.
inline Json TestPod(const std::string& name, const Json& patch = nullptr) {
  Json pod = {{"metadata", {{"name", name}}},
              {"spec", {{"containers", {{{"name", "c"}, {"image", "i"}}}}}}};
  if (!patch.is_null()) pod.merge_patch(patch);
  return pod;
}

}  // namespace minisched::apiserver
