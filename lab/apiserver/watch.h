#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "lab/apiserver/encoding.h"
#include "lab/apiserver/list_options.h"
#include "lab/apiserver/registry.h"

namespace minisched::apiserver {

// A stream of the changes of a resource's objects, one JSON event per line.
// Follows apiserver pkg/storage/cacher.
//
// The watch sends ADDED for an object that starts to match the selectors, and
// DELETED for an object that no longer matches. The watch queues the events
// that its client has not read yet, and ends if the queue gets too long. The
// queue shares the objects with the store and other watches.
//
// If the history of the store no longer reaches back to the start version, the
// watch sends one ERROR (410 Expired) and ends. Clients then list again. The
// same happens for a start version in the future, with another message, because
// such a version is from an earlier run of the server. Upstream waits for the
// version instead, because upstream's versions survive a restart.
class Watch : public Stream {
 public:
  Watch(Registry& registry, const ResourceRow& row, ListOptions options,
        Encoding encoding);

  bool Read(std::string& out) override;

 private:
  struct Item {
    std::string_view type;  // "ADDED", …
    Object object;
  };

  // Queues the first events: for the existing objects, for the changes since
  // the start version, or an error.
  void Start();
  // Queues an event for each existing object.
  void StartWithState();
  // Queues an event for a change, if it concerns the client.
  void Add(const Event& event);
  void Push(std::string_view type, Object object);
  // Starts a timer for one minute or until the deadline. The timer queues a
  // bookmark if the client asks for bookmarks and has read all events. Ends the
  // watch at the deadline; otherwise starts the timer again.
  void Tick();
  Object Bookmark(bool initial_events_end) const;
  void Wake() {
    if (on_ready) on_ready();
  }

  Registry& registry_;
  const ResourceRow& row_;
  const ListOptions options_;
  const Encoding encoding_;
  const Time deadline_;
  std::deque<Item> items_;
  std::size_t limit_ = 0;  // the longest items_ may get; 0: no limit yet
  bool first_ = true;      // Read() has returned no object yet
  bool ended_ = false;
  Store::Subscription subscription_;
  // Timers have a weak pointer to this, which expires with the watch.
  const std::shared_ptr<Watch*> self_ = std::make_shared<Watch*>(this);
};

}  // namespace minisched::apiserver
