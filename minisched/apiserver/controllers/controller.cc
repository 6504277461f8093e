#include "minisched/apiserver/controllers/controller.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>
#include <utility>

namespace minisched::apiserver {
namespace {

constexpr std::chrono::milliseconds kMoment{50};
constexpr std::chrono::seconds kRetry{1};

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

std::vector<Object> ObjectsIn(const Store& store, const std::string& collection,
                              const std::string& ns) {
  std::vector<Object> objects;
  const Store::Collection& all = store.All(collection);
  for (auto i = all.lower_bound({ns, ""});
       i != all.end() && i->first.first == ns; ++i) {
    objects.push_back(i->second);
  }
  return objects;
}

void RemoveValue(Json& list, const Json& value) {
  if (!list.is_array()) return;
  list.erase(std::remove(list.begin(), list.end(), value), list.end());
}

Index::Index(Store& store, const std::string& collection, Values values)
    : values_(std::move(values)) {
  subscription_ = ListAndWatch(store, collection, [this](const Event& event) {
    if (event.previous) {
      for (const std::string& value : values_(*event.previous)) {
        objects_[value].erase(UidOf(*event.previous));
        if (objects_[value].empty()) objects_.erase(value);
      }
    }
    if (event.type == Event::Type::kDeleted) return;
    for (const std::string& value : values_(*event.object)) {
      objects_[value][UidOf(*event.object)] = event.object;
    }
  });
}

const std::map<std::string, Object>& Index::operator[](
    const std::string& value) const {
  static const auto& none = *new std::map<std::string, Object>();
  const auto found = objects_.find(value);
  return found == objects_.end() ? none : found->second;
}

void Controller::Watch(const std::string& collection,
                       const std::function<void(const Event&)>& observer) {
  subscriptions_.push_back(ListAndWatch(store_, collection, observer));
}

void Controller::Enqueue(const ObjectKey& key) {
  if (!queued_.insert(key).second) return;
  queue_.push_back(key);
  if (queue_.size() == 1) registry_.loop().Post([this] { SyncNext(); });
}

void Controller::EnqueueAfter(std::chrono::milliseconds delay,
                              const ObjectKey& key) {
  registry_.loop().After(delay, [this, key] { Enqueue(key); });
}

void Controller::EnqueueSoon(const ObjectKey& key) {
  if (!soon_.insert(key).second) return;
  registry_.loop().After(kMoment, [this, key] {
    soon_.erase(key);
    Enqueue(key);
  });
}

void Controller::Every(std::chrono::milliseconds period,
                       const std::function<void()>& task) {
  registry_.loop().After(period, [=, this] {
    task();
    Every(period, task);
  });
}

Object Controller::Find(const ObjectKey& key) const {
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

// One at a time, so that requests are answered in between.
void Controller::SyncNext() {
  const ObjectKey key = queue_.front();
  queue_.pop_front();
  queued_.erase(key);
  if (!queue_.empty()) registry_.loop().Post([this] { SyncNext(); });
  try {
    Sync(key);
  } catch (const std::exception& error) {
    // A controller says by events what its users have to know.
    spdlog::debug("{} {}/{}: {}", key.row->QualifiedName(), key.ns, key.name,
                  error.what());
    EnqueueAfter(kRetry, key);
  }
}

}  // namespace minisched::apiserver
