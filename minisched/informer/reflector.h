#pragma once

#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "minisched/api/meta.h"
#include "minisched/api/watch_event.h"
#include "minisched/base/clock.h"
#include "minisched/client/client.h"
#include "minisched/client/errors.h"
#include "minisched/client/watch_stream.h"
#include "minisched/informer/reflector_loop.h"

namespace minisched {

// Where a reflector puts what it learns. Called on the reflector's thread.
template <class T>
class ReflectorStore {
 public:
  virtual ~ReflectorStore() = default;

  // All that there is. What is malformed is there, but could not be read.
  virtual void Replace(const ObjectList<T>& list) = 0;
  // kAdded, kModified or kDeleted, and its object is not null.
  virtual void Apply(const WatchEvent<T>& event) = 0;
  // Deleted in a state that could not be read.
  virtual void Delete(const MalformedObject& object) = 0;
};

// Logs it: what happens to a malformed object when nobody else cares.
void WarnOfMalformed(std::string_view kind, const MalformedObject& object);

// Keeps a ReflectorStore up to date with the server: lists all objects once,
// page by page, then watches from there on. Follows client-go
// tools/cache/reflector.go.
//
//   what happens                        what the reflector does
//   the server ends the watch, or       watches on from the last version seen,
//   the connection is lost              be it that of an event or a bookmark
//   410: that version is too old        waits, and lists again
//   429, or the server is not reached,  waits, and tries the same again: a
//   or a watch is silent for too long   watch from the last version seen
//   a watch that ended within a second  waits; lists again if nothing came
//   any other refusal, garbage          waits, and lists again
//
// Waits grow from 0.8 s to 30 s, are up to doubled by chance, and start small
// again after two minutes without any. Each failure is one line in the log.
//
// An object that can't be read is reported and stops nothing. One that was
// known before stays in the store as it was: a pod whose update can't be read
// takes up room on its node all the same. It goes when the server deletes it.
//
// Unlike client-go, a resource that is not there (404) is not taken for one
// without objects; what is known stays known.
template <class T>
class Reflector final : public ReflectorLoop {
 public:
  // An empty `field_selector` selects all objects. `client`, `store` and
  // `clock` must outlive the reflector.
  Reflector(Client& client, ReflectorStore<T>& store,
            std::string field_selector, Clock& clock)
      : ReflectorLoop(std::string(T::kResource.plural), clock),
        client_(client),
        store_(store),
        field_selector_(std::move(field_selector)) {}

 private:
  std::string List(const std::stop_token& stop) override {
    const ObjectList<T> list =
        client_.List<T>({.field_selector = field_selector_}, stop);
    if (list.metadata.resource_version.empty()) {
      throw TransportError(TransportError::Kind::kProtocol,
                           "the list has no resourceVersion");
    }
    const auto known = std::exchange(malformed_, {});
    for (const MalformedObject& object : list.malformed) {
      const auto reported = known.find(ObjectName(object));
      Report(object, reported == known.end() ? "" : reported->second);
    }
    store_.Replace(list);
    return list.metadata.resource_version;
  }

  void OpenWatch(const std::string& version,
                 const std::stop_token& stop) override {
    watch_.emplace(client_.Watch<T>(
        {.field_selector = field_selector_, .resource_version = version},
        stop));
  }

  std::optional<std::string> TakeEvent() override {
    using Type = typename WatchEvent<T>::Type;
    const std::optional<WatchEvent<T>> event = watch_->Next();
    if (!event) return std::nullopt;
    if (event->type == Type::kError) throw ApiError(event->status);
    if (event->malformed) {
      if (event->type == Type::kDeleted) {
        malformed_.erase(ObjectName(*event->malformed));
        store_.Delete(*event->malformed);
      } else {
        Report(*event->malformed, "");
      }
    } else if (event->type != Type::kBookmark) {
      malformed_.erase(ObjectName(event->object->metadata));
      store_.Apply(*event);
    }
    return event->resource_version;
  }

  void CloseWatch() override { watch_.reset(); }

  // Unless it has been, in that version.
  void Report(const MalformedObject& object, const std::string& reported) {
    malformed_[ObjectName(object)] = object.resource_version;
    if (!reported.empty() && reported == object.resource_version) return;
    WarnOfMalformed(T::kResource.kind, object);
  }

  Client& client_;
  ReflectorStore<T>& store_;
  const std::string field_selector_;
  std::optional<WatchStream<T>> watch_;
  // The objects that can't be read: their names, and the version reported.
  std::map<std::string, std::string> malformed_;
};

}  // namespace minisched
