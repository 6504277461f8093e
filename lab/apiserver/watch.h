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
// An object that starts to match the selectors is ADDED; one that no longer
// matches is DELETED. The watch queues the events that its client has not read
// yet, and ends if they are too many. The queue shares the objects with the
// store and other watches.
//
// If the store no longer has the start version in its history, the watch is a
// single ERROR: 410 Expired. Clients then list again. A version in the future
// also gets a 410, with another message: it is from an earlier run of the
// server. Upstream, whose
// versions survive a restart, waits for that version instead.
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

  void Start();
  void StartWithState();
  void Add(const Event& event);
  void Push(std::string_view type, Object object);
  // Sends a bookmark every minute if the client asks for bookmarks. Ends the
  // watch at the deadline.
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
  std::size_t limit_ = 0;  // the most items_ may have; 0 for no limit yet
  bool first_ = true;
  bool ended_ = false;
  Store::Subscription subscription_;
  // Shows timers whether this watch still exists.
  const std::shared_ptr<Watch*> self_ = std::make_shared<Watch*>(this);
};

}  // namespace minisched::apiserver
