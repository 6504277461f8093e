#include "lab/live/history.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace minisched::live {
namespace {

// The estimated memory of an item besides its text.
constexpr std::size_t kItemBytes = 160;

std::size_t BytesOf(const std::string& key, const std::string& json) {
  return key.size() + json.size() + kItemBytes;
}

// Appends an element to the text of an array.
void AppendElement(std::string& array, const std::string& json) {
  array += array.empty() ? '[' : ',';
  array += json;
}

bool IsAttempt(const std::string& key) {
  return key.find("/attempt/") != key.npos;
}

}  // namespace

void History::Add(std::vector<Item> items) {
  MutexLock lock(mu_);
  for (Item& item : items) {
    bytes_ += BytesOf(item.key, item.json);
    items_.push_back(std::move(item));
  }
  while (bytes_ > max_bytes_ && !items_.empty()) {
    FoldOldest();
    if (base_bytes_ > max_bytes_ / 2) ShrinkBase();
  }
}

void History::FoldOldest() {
  Item item = std::move(items_.front());
  items_.pop_front();
  const std::uint64_t position = begin_++;
  bytes_ -= BytesOf(item.key, item.json);
  if (item.remains == Remains::kNoOwner) {
    const std::string owner = item.key.substr(0, item.key.find('/') + 1);
    std::string next = owner;
    ++next.back();
    return EraseFromBase(base_.lower_bound(owner), base_.lower_bound(next));
  }
  const auto [first, last] = base_.equal_range(item.key);
  EraseFromBase(first, last);
  if (item.remains == Remains::kNothing) return;
  const std::size_t bytes = BytesOf(item.key, item.json);
  bytes_ += bytes;
  base_bytes_ += bytes;
  base_[std::move(item.key)] = {position, std::move(item.json)};
}

void History::EraseFromBase(BaseItems::iterator first,
                            BaseItems::iterator last) {
  for (auto item = first; item != last; ++item) {
    const std::size_t bytes = BytesOf(item->first, item->second.json);
    bytes_ -= bytes;
    base_bytes_ -= bytes;
  }
  base_.erase(first, last);
}

void History::ShrinkBase() {
  std::vector<BaseItems::iterator> order;
  for (auto item = base_.begin(); item != base_.end(); ++item) {
    order.push_back(item);
  }
  std::ranges::sort(order, {}, [](BaseItems::iterator item) {
    return std::pair(!IsAttempt(item->first), item->second.position);
  });
  // Down to a quarter of the limit, so that this is rare.
  for (const BaseItems::iterator item : order) {
    if (base_bytes_ <= max_bytes_ / 4) return;
    EraseFromBase(item, std::next(item));
  }
}

void History::Clear() {
  MutexLock lock(mu_);
  begin_ += items_.size() + 1;
  items_.clear();
  base_.clear();
  bytes_ = base_bytes_ = 0;
}

std::uint64_t History::end() const {
  MutexLock lock(mu_);
  return begin_ + items_.size();
}

History::Base History::GetBase() const {
  MutexLock lock(mu_);
  std::vector<const BaseItem*> order;
  for (const auto& [key, item] : base_) order.push_back(&item);
  std::ranges::sort(order, {}, &BaseItem::position);
  Base base{.end = begin_};
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i % kMaxItems == 0) base.json.emplace_back();
    AppendElement(base.json.back(), order[i]->json);
  }
  if (order.empty()) base.json.emplace_back("[");
  for (std::string& array : base.json) array += ']';
  return base;
}

std::optional<History::Part> History::From(std::uint64_t position,
                                           std::size_t max_bytes) const {
  MutexLock lock(mu_);
  if (position < begin_ || position > begin_ + items_.size()) {
    return std::nullopt;
  }
  Part part{.end = position};
  const std::uint64_t end =
      std::min(position + kMaxItems, begin_ + items_.size());
  while (part.end < end && part.json.size() < max_bytes) {
    AppendElement(part.json, items_[part.end++ - begin_].json);
  }
  if (!part.json.empty()) part.json += ']';
  return part;
}

}  // namespace minisched::live
