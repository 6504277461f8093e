#pragma once

#include <chrono>
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

// The functions that an informer calls for changes. Each function may be left
// out. The calls are made one after the other, on the handler's own thread,
// with no lock held. Exceptions are logged as errors and not passed on.
template <class T>
struct ResourceEventHandler {
  using Object = std::shared_ptr<const T>;

  // `is_in_initial_list` is true if the object existed when the informer was
  // started or the handler added.
  std::function<void(const Object& object, bool is_in_initial_list)> on_add;
  // `old` and `now` have different resource versions and the same uid.
  std::function<void(const Object& old, const Object& now)> on_update;
  // `last` is the last known state. It is an older state if the informer missed
  // the deletion: upstream's DeletedFinalStateUnknown.
  std::function<void(const Object& last)> on_delete;
};

// Represents an event handler that was added to an informer. A value; may
// outlive the informer. Thread-safe.
class HandlerRegistration {
 public:
  explicit HandlerRegistration(std::shared_ptr<const Synced> synced)
      : synced_(std::move(synced)) {}

  // Blocks until the handler has been called for all objects of its initial
  // list. Returns false if `stop` asked to stop first. If the informer was
  // stopped before, the calls never come: only `stop` ends the wait then.
  bool WaitForSync(const std::stop_token& stop) const {
    return synced_->Wait(stop);
  }

 private:
  std::shared_ptr<const Synced> synced_;
};

// The objects that an informer watches, and the clock for its waits.
struct InformerOptions {
  // An empty selector selects all objects. An object that starts to match is
  // added; an object that no longer matches is deleted.
  std::string field_selector = {};
  Clock* clock = &RealClock();
  std::chrono::milliseconds read_delay{0};  // WatchOptions::read_delay
  bool keep_json = false;  // pods and nodes keep their whole JSON
};

// The part of SharedInformer<T> that doesn't depend on T. The owner of several
// informers starts them and waits for them through this interface.
class SharedInformerBase {
 public:
  virtual ~SharedInformerBase() = default;

  // Starts to list and watch on the informer's own thread, until `stop` asks to
  // stop or the informer is destroyed. After that, no new call of a handler
  // begins, and queued calls are dropped.
  // REQUIRES: called once.
  virtual void Start(const std::stop_token& stop) = 0;

  // Blocks until the store holds all objects of the first list. Returns false
  // if `stop` asked to stop first. Handlers may still have to be called: see
  // HandlerRegistration::WaitForSync().
  virtual bool WaitForCacheSync(const std::stop_token& stop) const = 0;

  // Stops the informer and blocks until its handlers have returned. The store
  // stays as it is. Must not be called from a handler, or while Start() or
  // AddEventHandler() runs.
  virtual void Shutdown() = 0;
};

// A local copy of the server's objects of one kind that calls event handlers
// for each change. All handlers share one list and one watch. Thread-safe.
// Follows client-go tools/cache/shared_informer.go.
//
//   SharedInformer<Pod> pods(client, {.field_selector = "spec.nodeName="});
//   pods.AddEventHandler({.on_add = …, .on_update = …, .on_delete = …});
//   pods.Start(stop);
//   if (!pods.WaitForCacheSync(stop)) return;
//   … pods.store().Get("default", "web-0") …
//
// Invariants:
// 1. The store is at least as new as the last change a handler was called for.
// 2. Each handler is called for every change to the store, in order: an object
//    is added, then updated any number of times, then deleted. After that an
//    object of the same name may be added.
// 3. When the server is back after an outage, handlers are called for the
//    difference between then and now: many updates may become one.
template <class T>
class SharedInformer final : public SharedInformerBase,
                             private ReflectorStore<T> {
 public:
  // `client` and options.clock must outlive the informer.
  explicit SharedInformer(Client& client, InformerOptions options = {})
      : reflector_(client, *this, std::move(options.field_selector),
                   *options.clock, options.read_delay, options.keep_json) {}

  // Stops the informer. Blocks until its request under way and the running
  // handlers have ended. REQUIRES: not called from a handler.
  ~SharedInformer() override = default;

  SharedInformer(const SharedInformer&) = delete;
  SharedInformer& operator=(const SharedInformer&) = delete;

  // Returns the local copy. The store is empty until the first list.
  const Store<T>& store() const { return store_; }

  // Adds a handler, at any time. The handler is first called with on_add for
  // each object in the store.
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

  // Queues the calls for `changes`. Holds the lock that the write to the store
  // holds, so that a handler which is being added gets each change once.
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
  // Lock order: mu_, then the locks of the store, of synced_ or of a listener.
  Mutex mu_;
  bool stopped_ GUARDED_BY(mu_) = false;
  std::vector<std::unique_ptr<Listener>> listeners_ GUARDED_BY(mu_);
  Reflector<T> reflector_;
  std::jthread thread_;  // last: the thread uses the other members
};

}  // namespace minisched
