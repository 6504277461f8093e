#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "minisched/api/meta.h"
#include "minisched/api/watch_event.h"
#include "minisched/base/mutex.h"
#include "minisched/client/client.h"
#include "minisched/informer/handler_thread.h"
#include "minisched/informer/reflector.h"
#include "minisched/informer/store.h"
#include "minisched/informer/synced.h"

namespace minisched {

// What is to be done about changes. Each may be left out. Called one after the
// other, on a thread of the handler's own and under no lock. An exception is a
// bug: it is logged, and the next call is made.
template <class T>
struct ResourceEventHandler {
  using Object = std::shared_ptr<const T>;

  // `is_in_initial_list`: it was there before the informer, or the handler.
  std::function<void(const Object& object, bool is_in_initial_list)> on_add;
  // Never with the same resource version, nor with another uid.
  std::function<void(const Object& old, const Object& now)> on_update;
  // The last state that is known. Where the informer was not there to see it
  // go, that is an older one: what DeletedFinalStateUnknown is upstream.
  std::function<void(const Object& last)> on_delete;
};

// An event handler that has been added to an informer. A value, which may
// outlive the informer. Thread-safe.
class HandlerRegistration {
 public:
  explicit HandlerRegistration(std::shared_ptr<const Synced> synced)
      : synced_(std::move(synced)) {}

  // Blocks until the handler has been called for all objects of the first list.
  // Returns false if `stop` asked to stop first.
  bool WaitForSync(const std::stop_token& stop) const {
    return synced_->Wait(stop);
  }

 private:
  std::shared_ptr<const Synced> synced_;
};

struct InformerOptions {
  // Selects the objects; empty selects all. An object that comes to match is
  // added, one that ceases to match is deleted.
  std::string field_selector = {};
  Clock* clock = &RealClock();
};

// What informers of all kinds have in common: an owner of several starts them,
// then waits for them, whatever their types.
class SharedInformerBase {
 public:
  virtual ~SharedInformerBase() = default;

  // Starts to list and watch, on a thread of the informer's own, until `stop`
  // asks to stop or the informer is destroyed. No handler is called after
  // that: calls that are still queued are dropped.
  // REQUIRES: called once.
  virtual void Start(const std::stop_token& stop) = 0;

  // Blocks until the store holds all objects of the first list. Returns false
  // if `stop` asked to stop first. Handlers may still have to be called: see
  // HandlerRegistration::WaitForSync().
  virtual bool WaitForCacheSync(const std::stop_token& stop) const = 0;

  // Stops the informer and blocks until its handlers have returned. The store
  // stays as it is. Not from a handler; not while Start() or AddEventHandler()
  // runs.
  virtual void Shutdown() = 0;
};

// The objects of one kind as the server has them, and word of each change: one
// list and one watch, however many handlers. Thread-safe. Follows client-go
// tools/cache/shared_informer.go.
//
//   SharedInformer<Pod> pods(client, {.field_selector = "spec.nodeName="});
//   pods.AddEventHandler({.on_add = …, .on_update = …, .on_delete = …});
//   pods.Start(stop);
//   if (!pods.WaitForCacheSync(stop)) return;
//   … pods.store().Get("default", "web-0") …
//
// Invariants:
// 1. The store is never behind what a handler has been told.
// 2. Each handler is told of every change to the store, in order: an object is
//    added, then updated any number of times, then deleted; after that one of
//    the same name may be added.
// 3. What happened while the server was out of reach is made up for, but only
//    as the difference that it made: many updates may have become one.
template <class T>
class SharedInformer final : public SharedInformerBase,
                             private ReflectorStore<T> {
 public:
  // `client` and options.clock must outlive the informer.
  explicit SharedInformer(Client& client, InformerOptions options = {})
      : reflector_(client, *this, std::move(options.field_selector),
                   *options.clock) {}

  // Stops, and waits for the handlers to return. Not from a handler.
  ~SharedInformer() override = default;

  SharedInformer(const SharedInformer&) = delete;
  SharedInformer& operator=(const SharedInformer&) = delete;

  // What is known of the server; for reading. Empty until the first sync.
  const Store<T>& store() const { return store_; }

  // At any time. A handler that comes late is first told of all that is there.
  HandlerRegistration AddEventHandler(ResourceEventHandler<T> handler)
      EXCLUDES(mu_) {
    auto listener = std::make_unique<Listener>(std::move(handler));
    HandlerRegistration registration(listener->synced);
    MutexLock lock(mu_);
    if (stopped_) listener->thread.Stop();
    for (const auto& object : store_.List()) {
      listener->Post({nullptr, object}, /*is_in_initial_list=*/true);
    }
    if (synced_.Get()) listener->PostSynced();
    listeners_.push_back(std::move(listener));
    return registration;
  }

  void Start(const std::stop_token& stop) override {
    thread_ = std::jthread([this, stop](const std::stop_token& destroyed) {
      std::stop_source either;
      const auto request_stop = [this, &either] {
        StopListeners();
        either.request_stop();
      };
      const std::stop_callback on_stop(stop, request_stop);
      const std::stop_callback on_destroyed(destroyed, request_stop);
      reflector_.Run(either.get_token());
    });
  }

  bool WaitForCacheSync(const std::stop_token& stop) const override {
    return synced_.Wait(stop);
  }

  void Shutdown() override EXCLUDES(mu_) {
    thread_ = {};
    std::vector<std::unique_ptr<Listener>> stopped;
    MutexLock lock(mu_);
    stopped.swap(listeners_);
  }

 private:
  using Handler = ResourceEventHandler<T>;

  struct Listener {
    explicit Listener(Handler handler)
        : handler(std::make_shared<const Handler>(std::move(handler))),
          thread(std::string(T::kResource.plural)) {}

    void Post(const Change<T>& change, bool is_in_initial_list) {
      thread.Post([handler = handler, change, is_in_initial_list] {
        Call(*handler, change, is_in_initial_list);
      });
    }

    void PostSynced() {
      thread.Post([synced = synced] { synced->Set(); });
    }

    const std::shared_ptr<const Handler> handler;
    const std::shared_ptr<Synced> synced = std::make_shared<Synced>();
    HandlerThread thread;
  };

  static void Call(const Handler& handler, const Change<T>& change,
                   bool is_in_initial_list) {
    if (!change.old) {
      if (handler.on_add) handler.on_add(change.now, is_in_initial_list);
    } else if (!change.now) {
      if (handler.on_delete) handler.on_delete(change.old);
    } else if (handler.on_update) {
      handler.on_update(change.old, change.now);
    }
  }

  // Under the lock together with the write to the store, so that a handler that
  // is being added is told of each change once.
  void Distribute(const std::vector<Change<T>>& changes) REQUIRES(mu_) {
    const bool is_in_initial_list = !synced_.Get();
    for (const auto& listener : listeners_) {
      for (const Change<T>& change : changes) {
        listener->Post(change, is_in_initial_list);
      }
    }
  }

  void Replace(const ObjectList<T>& list) override EXCLUDES(mu_) {
    MutexLock lock(mu_);
    Distribute(store_.Replace(list));
    if (synced_.Get()) return;
    for (const auto& listener : listeners_) listener->PostSynced();
    synced_.Set();
  }

  void Apply(const WatchEvent<T>& event) override EXCLUDES(mu_) {
    MutexLock lock(mu_);
    Distribute(event.type == WatchEvent<T>::Type::kDeleted
                   ? store_.Delete(event.object)
                   : store_.Set(event.object));
  }

  void Delete(const MalformedObject& object) override EXCLUDES(mu_) {
    MutexLock lock(mu_);
    Distribute(store_.Delete(object.namespace_name, object.name));
  }

  void StopListeners() EXCLUDES(mu_) {
    MutexLock lock(mu_);
    stopped_ = true;
    for (const auto& listener : listeners_) listener->thread.Stop();
  }

  Store<T> store_;
  Synced synced_;  // only set under mu_
  // Taken before the locks of the store, of synced_ and of the listeners.
  Mutex mu_;
  bool stopped_ GUARDED_BY(mu_) = false;
  std::vector<std::unique_ptr<Listener>> listeners_ GUARDED_BY(mu_);
  Reflector<T> reflector_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace minisched
