#include "lab/apiserver/controllers/controller.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <utility>

#include "lab/apiserver/errors.h"
#include "lab/apiserver/selectors.h"
#include "minisched/base/log.h"

namespace minisched::apiserver {
namespace {

constexpr std::chrono::seconds kRetry{1};
// A controller that remembers more events than this forgets all of them.
constexpr std::size_t kMaxRemembered = 4096;

// Returns the reference of a child to its controller.
Json ControlledBy(const Json& owner) {
  Json reference = ReferenceTo(owner);
  reference.update({{"controller", true}, {"blockOwnerDeletion", true}});
  return reference;
}

Store::Subscription ListAndWatch(Store& store, const std::string& collection,
                                 std::function<void(const Event&)> observer) {
  const std::vector<std::string> collections =
      collection.empty() ? store.Collections() : std::vector{collection};
  for (const std::string& each : collections) {
    for (const auto& [key, object] : store.All(each)) {
      observer({Event::Type::kAdded, store.version(), object, nullptr});
    }
  }
  return store.Subscribe(
      collection, [observer = std::move(observer)](
                      const std::string& /*collection*/, const Event& event) {
        observer(event);
      });
}

}  // namespace

ObjectKey KeyOf(const Json& object) {
  return {FindKind(GetString(object, "apiVersion"), GetString(object, "kind")),
          NamespaceOf(object), NameOf(object)};
}

ObjectKey OwnerOf(const Json& object, const Json& reference) {
  const ResourceRow* const row = FindKind(GetString(reference, "apiVersion"),
                                          GetString(reference, "kind"));
  return {row, row && row->namespaced ? NamespaceOf(object) : "",
          GetString(reference, "name")};
}

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
  // The text may have any number of digits. The limit avoids an overflow of the
  // product.
  const auto percent = std::min(
      std::strtoll(GetString(value).c_str(), nullptr, 10), 1'000'000'000LL);
  return (total * percent + (round_up ? 99 : 0)) / 100;
}

Json ReferenceTo(const Json& object) {
  return {{"apiVersion", object["apiVersion"]},
          {"kind", object["kind"]},
          {"name", NameOf(object)},
          {"uid", UidOf(object)}};
}

std::vector<Object> Under(const Store::Collection& objects,
                          const std::string& first) {
  std::vector<Object> found;
  for (auto i = objects.lower_bound({first, ""});
       i != objects.end() && i->first.first == first; ++i) {
    found.push_back(i->second);
  }
  return found;
}

Index::Index(Store& store, const std::string& collection, Values values)
    : values_(std::move(values)) {
  subscription_ = ListAndWatch(store, collection, [this](const Event& event) {
    if (event.previous) {
      for (const std::string& value : values_(*event.previous)) {
        objects_.erase({value, UidOf(*event.previous)});
      }
    }
    if (event.type == Event::Type::kDeleted) return;
    for (const std::string& value : values_(*event.object)) {
      objects_[{value, UidOf(*event.object)}] = event.object;
    }
  });
}

void Controller::Watch(const std::string& collection,
                       const std::function<void(const Event&)>& observer) {
  subscriptions_.push_back(ListAndWatch(store_, collection, observer));
}

void Controller::Enqueue(const ObjectKey& key,
                         std::chrono::milliseconds delay) {
  if (!queued_.emplace(delay, key).second) return;
  const auto sync = [=, this] {
    queued_.erase({delay, key});
    try {
      Sync(key);
    } catch (const std::exception& error) {
      // Users see the errors that concern them as events.
      spdlog::debug("failed to sync {} {}/{}: {}", key.row->QualifiedName(),
                    key.ns, key.name, error.what());
      Enqueue(key, kRetry);
    }
  };
  if (delay == delay.zero()) {
    registry_.loop().Post(sync);
  } else {
    registry_.loop().After(delay, sync);
  }
}

Object Controller::Find(const ObjectKey& key) const {
  if (key.row == nullptr) return nullptr;
  return store_.Find(CollectionOf(*key.row), {key.ns, key.name});
}

void Controller::Edit(const ObjectKey& key, std::string_view subresource,
                      const std::function<void(Json&)>& change) {
  registry_.Update(*key.row, subresource, key.ns, key.name,
                   [&](const Json& old) {
                     Json object = old;
                     change(object);
                     return object;
                   });
}

void Controller::Record(const Json& object, const std::string& type,
                        const std::string& reason, const std::string& message) {
  const ResourceRow& row = GetResource("", "events");
  const std::string its_ns = NamespaceOf(object);
  const std::string ns = its_ns.empty() ? "default" : its_ns;
  const std::string now = registry_.Now();
  if (events_.size() > kMaxRemembered) events_.clear();
  std::string& name = events_[UidOf(object) + " " + reason + " " + message];
  try {
    if (Find({&row, ns, name})) {
      return Edit({&row, ns, name}, "", [&](Json& event) {
        event["count"] = GetInt(event, "count") + 1;
        event["lastTimestamp"] = now;
      });
    }
    // The time in nanoseconds, as in client-go. The stamp always grows, so that
    // the names are unique.
    stamp_ = std::max(stamp_ + 1,
                      registry_.loop().Now().time_since_epoch().count() * 1000);
    name = fmt::format("{}.{:x}", NameOf(object).substr(0, 230), stamp_);
    Json involved = ReferenceTo(object);
    if (!its_ns.empty()) involved["namespace"] = its_ns;
    involved["resourceVersion"] = object["metadata"]["resourceVersion"];
    registry_.Create(row, ns,
                     {{"metadata", {{"name", name}}},
                      {"involvedObject", involved},
                      {"type", type},
                      {"reason", reason},
                      {"message", message},
                      {"count", 1},
                      {"firstTimestamp", now},
                      {"lastTimestamp", now},
                      {"source", {{"component", component_}}},
                      {"reportingComponent", component_},
                      {"reportingInstance", ""}});
  } catch (const StatusError& error) {
    spdlog::debug("failed to record event {} of {}: {}", reason, NameOf(object),
                  error.what());
  }
}

OwnerController::OwnerController(Registry& registry, std::string component,
                                 const ResourceRow& row,
                                 const ResourceRow& child_row)
    : Controller(registry, std::move(component)),
      child_row_(child_row),
      children_(store_, CollectionOf(child_row), [](const Json& child) {
        return std::vector{GetString(ControllerOf(child), "uid")};
      }) {
  Watch(CollectionOf(row), [this](const Event& e) { Enqueue(*e.object); });
  Watch(CollectionOf(child_row), [this, &row](const Event& e) {
    for (const Object& child : {e.previous, e.object}) {
      if (!child) continue;
      const ObjectKey owner = OwnerOf(*child, ControllerOf(*child));
      if (owner.row == &row) Enqueue(owner, kMoment);
    }
  });
}

Object OwnerController::CreateChild(const Json& owner, Json child) {
  child["metadata"]["ownerReferences"] = Json::array({ControlledBy(owner)});
  return registry_.Create(child_row_, NamespaceOf(owner), std::move(child));
}

void OwnerController::AdoptOrphans(const Json& owner) {
  const auto selects = Compile(Get(owner, "spec", "selector"));
  for (const Object& orphan : children_[""]) {
    if (NamespaceOf(*orphan) != NamespaceOf(owner) || IsTerminating(*orphan) ||
        !selects(Get(*orphan, "metadata", "labels"))) {
      continue;
    }
    Edit(KeyOf(*orphan), "", [&owner](Json& edited) {
      edited["metadata"]["ownerReferences"].push_back(ControlledBy(owner));
    });
  }
}

}  // namespace minisched::apiserver
