#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "lab/apiserver/encoding.h"
#include "lab/apiserver/list_options.h"
#include "lab/apiserver/registry.h"

namespace minisched::apiserver {

// The changes of a resource's objects, as a client reads them: one JSON event a
// line. Follows apiserver pkg/storage/cacher.
//
// An object that comes to match the selectors is ADDED, one that no longer does
// is DELETED. Holds what its reader has yet to read, shared with the store and
// the other watches, and ends when that is too much.
//
// From a version that the store has forgotten it is one ERROR: 410 Expired,
// upon which clients list again. So it is from one that is yet to come, which
// the client has from a server that was here before this one; upstream, whose
// versions outlive it, waits until it gets there.
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
  // A bookmark now and then, and the end at the deadline.
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
  std::size_t limit_ = 0;  // of items_
  bool first_ = true;
  bool ended_ = false;
  Store::Subscription subscription_;
  // Gone with this, so that a timer can tell.
  const std::shared_ptr<Watch*> self_ = std::make_shared<Watch*>(this);
};

}  // namespace minisched::apiserver
