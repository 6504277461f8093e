#pragma once

#include <chrono>
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

// The interface through which a reflector updates a store. Called on the
// reflector's thread.
template <class T>
class ReflectorStore {
 public:
  virtual ~ReflectorStore() = default;

  // Makes the store equal to a list of all objects. Its malformed objects exist
  // on the server but could not be read.
  virtual void Replace(const ObjectList<T>& list) = 0;
  // Applies an event of type kAdded, kModified or kDeleted, with an object.
  virtual void Apply(const WatchEvent<T>& event) = 0;
  // Deletes an object whose last state could not be read.
  virtual void Delete(const MalformedObject& object) = 0;
};

// Logs that a malformed object is ignored, and why.
void WarnOfMalformed(std::string_view kind, const MalformedObject& object);

// Keeps a ReflectorStore up to date with the server: lists all objects once,
// page by page, then watches from the list's version. Follows client-go
// tools/cache/reflector.go.
//
//   cause                               reaction
//   the server ends the watch, or       watches again from the version of the
//   the connection is lost              last event or bookmark
//   410: the version is too old         waits, then lists again
//   429, the server can't be reached,   waits, then repeats the request: the
//   or a watch is silent for too long   list, or the watch from that version
//   a watch ended within a second       waits; lists again if no event came
//   any other error, malformed data     waits, then lists again
//
// The waits grow from 0.8 s to 30 s. Each wait is multiplied by a random number
// between 1 and 2. After two minutes without a wait, the waits start at 0.8 s
// again. Each failure is one line in the log.
//
// A malformed object is logged once for each of its versions and doesn't stop
// the reflector. If the store has an earlier version of the object, that
// version stays until the server deletes the object: a pod whose update can't
// be read still uses resources of its node.
//
// While requests fail, the store stays as it is, also if the resource doesn't
// exist (404).
template <class T>
class Reflector final : public ReflectorLoop {
 public:
  // An empty `field_selector` selects all objects. `read_delay` and `keep_json`
  // are those of WatchOptions. `client`, `store` and `clock` must outlive the
  // reflector.
  Reflector(Client& client, ReflectorStore<T>& store,
            std::string field_selector, Clock& clock,
            std::chrono::milliseconds read_delay = {}, bool keep_json = false)
      : ReflectorLoop(std::string(T::kResource.plural), clock),
        client_(client),
        store_(store),
        field_selector_(std::move(field_selector)),
        read_delay_(read_delay),
        keep_json_(keep_json) {}

 private:
  std::string List(const std::stop_token& stop) override {
    const ObjectList<T> list = client_.List<T>(
        {.field_selector = field_selector_, .keep_json = keep_json_}, stop);
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
    watch_.emplace(client_.Watch<T>({.field_selector = field_selector_,
                                     .resource_version = version,
                                     .read_delay = read_delay_,
                                     .keep_json = keep_json_},
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

  // Logs a malformed object unless its version has been logged. `reported` is
  // the last version of the object that was logged.
  void Report(const MalformedObject& object, const std::string& reported) {
    malformed_[ObjectName(object)] = object.resource_version;
    if (!reported.empty() && reported == object.resource_version) return;
    WarnOfMalformed(T::kResource.kind, object);
  }

  Client& client_;
  ReflectorStore<T>& store_;
  const std::string field_selector_;
  const std::chrono::milliseconds read_delay_;
  const bool keep_json_;
  std::optional<WatchStream<T>> watch_;
  // Malformed objects by name, with the version that was logged.
  std::map<std::string, std::string> malformed_;
};

}  // namespace minisched
