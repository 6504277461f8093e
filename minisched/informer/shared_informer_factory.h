#pragma once

#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <typeindex>
#include <typeinfo>
#include <utility>
#include <vector>

#include "minisched/base/clock.h"
#include "minisched/base/mutex.h"
#include "minisched/client/client.h"
#include "minisched/informer/shared_informer.h"

namespace minisched {

// The informers of a program, at most one for each kind of object. They are
// started and awaited together. The destructor stops them as Shutdown() does.
// Thread-safe. Follows client-go's informers/factory.go.
//
//   SharedInformerFactory informers(client);
//   informers.Add<Pod>({.field_selector = "status.phase!=Succeeded"});
//   informers.Of<Node>().AddEventHandler({.on_add = …});
//   informers.Start(stop);
//   if (!informers.WaitForCacheSync(stop)) return;
//   … informers.Of<Pod>().store().List() …
class SharedInformerFactory {
 public:
  // `client` and `clock` must outlive the factory.
  explicit SharedInformerFactory(Client& client, Clock& clock = RealClock())
      : client_(client), clock_(clock) {}

  // Makes the informer of T. Ignores options.clock: all informers use the
  // factory's clock. Throws std::logic_error if T already has an informer.
  template <class T>
  SharedInformer<T>& Add(InformerOptions options) EXCLUDES(mu_) {
    MutexLock lock(mu_);
    if (Find(typeid(T)) != nullptr) {
      const std::string plural{T::kResource.plural};
      throw std::logic_error("an informer already exists for " + plural);
    }
    return Make<T>(std::move(options));
  }

  // Returns the informer of T, which lives as long as the factory. Unless Add()
  // made the informer, the first call makes one for all objects of the kind.
  template <class T>
  SharedInformer<T>& Of() EXCLUDES(mu_) {
    MutexLock lock(mu_);
    SharedInformerBase* informer = Find(typeid(T));
    return informer == nullptr ? Make<T>({})
                               : static_cast<SharedInformer<T>&>(*informer);
  }

  // Starts all informers that have not been started yet. They run until `stop`
  // asks to stop, Shutdown() is called, or the factory is destroyed.
  void Start(const std::stop_token& stop) EXCLUDES(mu_);

  // Blocks until the stores of all started informers hold all objects of the
  // first list. Returns false if `stop` asked to stop first.
  bool WaitForCacheSync(const std::stop_token& stop) const EXCLUDES(mu_);

  // Stops all informers and blocks until their handlers have returned. The
  // stores stay as they are. Must not be called from a handler.
  void Shutdown() EXCLUDES(mu_);

 private:
  struct Entry {
    std::type_index type;
    std::unique_ptr<SharedInformerBase> informer;
    bool started = false;
  };

  // Returns null if there is no informer of the type.
  SharedInformerBase* Find(std::type_index type) const REQUIRES(mu_);
  std::vector<SharedInformerBase*> Started() const EXCLUDES(mu_);

  template <class T>
  SharedInformer<T>& Make(InformerOptions options) REQUIRES(mu_) {
    options.clock = &clock_;
    auto informer =
        std::make_unique<SharedInformer<T>>(client_, std::move(options));
    SharedInformer<T>& made = *informer;
    entries_.push_back({.type = typeid(T), .informer = std::move(informer)});
    return made;
  }

  Client& client_;
  Clock& clock_;
  mutable Mutex mu_;
  std::vector<Entry> entries_ GUARDED_BY(mu_);  // never removed
};

}  // namespace minisched
