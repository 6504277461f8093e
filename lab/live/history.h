#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "minisched/api/time.h"
#include "minisched/base/mutex.h"

namespace minisched::live {

// What remains of an item when it becomes part of a history's base.
enum class Remains {
  kItem,     // the item
  kNothing,  // nothing, and no earlier item with the same key
  kNoOwner   // nothing, and no item with a key of the same owner
};

// One thing that a page is told: the whole present state of one pod, node,
// attempt, or of something else.
struct Item {
  // The owner, which is the uid of a pod or node or empty, then '/', then what
  // the item is about: "9b1f/attempt/3". An item replaces earlier items with
  // the same key.
  std::string key;
  std::string json;  // an object, on one line
  Remains remains = Remains::kItem;
  Time time = {};  // also part of the JSON
};

// Items in order. The history keeps the newest ones. Of the others, it keeps a
// base: the last item for each key. So a page that starts late can still show
// the whole state at each moment that is kept. If even the base takes half of
// the limit, it loses its oldest attempts first.
//
// A position is the number of items before it, plus the number of calls of
// Clear(). Thread-safe.
class History {
 public:
  // The most items of an array, so that parsing one never takes long.
  static constexpr std::size_t kMaxItems = 1'000;

  // Consecutive items.
  struct Part {
    std::string json;       // an array; "" if there are none
    std::uint64_t end = 0;  // the position after these items
  };
  struct Base {
    std::vector<std::string> json;  // arrays; at least one
    std::uint64_t end = 0;          // the position of the oldest kept item
  };

  // `max_bytes` limits the estimated memory of all items.
  explicit History(std::size_t max_bytes = 64 << 20) : max_bytes_(max_bytes) {}

  History(const History&) = delete;
  History& operator=(const History&) = delete;

  void Add(std::vector<Item> items) EXCLUDES(mu_);
  // Removes all items. No earlier position is kept.
  void Clear() EXCLUDES(mu_);

  // Returns the position after the last item.
  std::uint64_t end() const EXCLUDES(mu_);
  Base GetBase() const EXCLUDES(mu_);
  // Returns items from a position on, of about `max_bytes` at most. Returns
  // nullopt if these items are no longer kept, or if no item has had this
  // position yet.
  std::optional<Part> From(std::uint64_t position, std::size_t max_bytes) const
      EXCLUDES(mu_);

 private:
  struct BaseItem {
    std::uint64_t position = 0;
    std::string json;
  };
  using BaseItems = std::map<std::string, BaseItem>;  // by key

  // Moves the oldest kept item to the base.
  void FoldOldest() REQUIRES(mu_);
  void EraseFromBase(BaseItems::iterator first, BaseItems::iterator last)
      REQUIRES(mu_);
  void ShrinkBase() REQUIRES(mu_);

  const std::size_t max_bytes_;
  mutable Mutex mu_;
  std::uint64_t begin_ GUARDED_BY(mu_) = 0;  // the position of items_.front()
  std::deque<Item> items_ GUARDED_BY(mu_);
  BaseItems base_ GUARDED_BY(mu_);
  std::size_t bytes_ GUARDED_BY(mu_) = 0;  // of items_ and base_
  std::size_t base_bytes_ GUARDED_BY(mu_) = 0;
};

}  // namespace minisched::live
