#include "lab/apiserver/store.h"

#include <algorithm>

namespace minisched::apiserver {

Store::Store(std::size_t history) : history_size_(history) {}

Object Store::Find(const std::string& collection, const Key& key) const {
  const Collection& all = All(collection);
  const auto found = all.find(key);
  return found == all.end() ? nullptr : found->second;
}

const Store::Collection& Store::All(const std::string& collection) const {
  static const Collection kNone;
  const auto found = collections_.find(collection);
  return found == collections_.end() ? kNone : found->second;
}

std::vector<std::string> Store::Collections() const {
  std::vector<std::string> names;
  names.reserve(collections_.size());
  for (const auto& [name, objects] : collections_) names.push_back(name);
  return names;
}

Object Store::Put(const std::string& collection, Json object) {
  const Key key(NamespaceOf(object), NameOf(object));
  object["metadata"]["resourceVersion"] = std::to_string(++version_);
  Object& place = collections_[collection][key];
  Object previous =
      std::exchange(place, std::make_shared<const Json>(std::move(object)));
  const auto type = previous ? Event::Type::kModified : Event::Type::kAdded;
  Object stored = place;
  Publish(collection, {type, version_, stored, std::move(previous)});
  return stored;
}

Object Store::Remove(const std::string& collection, Json last) {
  const auto node =
      collections_[collection].extract({NamespaceOf(last), NameOf(last)});
  last["metadata"]["resourceVersion"] = std::to_string(++version_);
  auto removed = std::make_shared<const Json>(std::move(last));
  Publish(collection,
          {Event::Type::kDeleted, version_, removed, node.mapped()});
  return removed;
}

void Store::Publish(const std::string& collection, Event event) {
  for (const Subscriber& subscriber : subscribers_) {
    if (subscriber.collection.empty() || subscriber.collection == collection) {
      subscriber.observer(collection, event);
    }
  }
  History& history = history_[collection];
  history.events.push_back(std::move(event));
  if (history.events.size() > history_size_) {
    history.from = history.events.front().version;
    history.events.pop_front();
  }
}

std::optional<Store::Collection> Store::AllAt(const std::string& collection,
                                              std::uint64_t version) const {
  const auto changes = Since(collection, version);
  if (!changes) return std::nullopt;
  Collection all = All(collection);
  for (auto change = changes->rbegin(); change != changes->rend(); ++change) {
    const Key key(NamespaceOf(*change->object), NameOf(*change->object));
    if (change->previous) {
      all[key] = change->previous;
    } else {
      all.erase(key);
    }
  }
  return all;
}

std::optional<std::vector<Event>> Store::Since(const std::string& collection,
                                               std::uint64_t version) const {
  if (version < compacted_ || version > version_) return std::nullopt;
  const auto found = history_.find(collection);
  if (found == history_.end()) return std::vector<Event>();
  const History& history = found->second;
  if (version < history.from) return std::nullopt;
  const auto first = std::upper_bound(
      history.events.begin(), history.events.end(), version,
      [](std::uint64_t v, const Event& event) { return v < event.version; });
  return std::vector<Event>(first, history.events.end());
}

void Store::Compact() {
  history_.clear();
  compacted_ = version_;
}

Store::Subscription Store::Subscribe(std::string collection,
                                     Observer observer) {
  const auto place = subscribers_.insert(
      subscribers_.end(), {std::move(collection), std::move(observer)});
  return {this, [place](Store* store) { store->subscribers_.erase(place); }};
}

}  // namespace minisched::apiserver
