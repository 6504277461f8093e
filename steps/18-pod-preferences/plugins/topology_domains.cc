#include "plugins/topology_domains.h"

#include <utility>

namespace minisched {

TopologyDomains::TopologyDomains(
    const std::unordered_map<std::string, int>& counts) {
  std::unordered_map<std::string, std::size_t> index;
  for (const auto& [domain, count] : counts) {
    index.emplace(domain, counts_.size());
    counts_.push_back(count);
    ++domains_with_[count];
  }
  index_ = std::make_shared<const decltype(index)>(std::move(index));
}

void TopologyDomains::Update(const std::string& domain, int delta) {
  const auto position = index_->find(domain);
  if (position == index_->end()) return;
  int& count = counts_[position->second];
  const auto same = domains_with_.find(count);
  if (--same->second == 0) domains_with_.erase(same);
  count += delta;
  ++domains_with_[count];
}

int TopologyDomains::Count(const std::string& domain) const {
  const auto position = index_->find(domain);
  return position == index_->end() ? 0 : counts_[position->second];
}

int TopologyDomains::Min() const {
  return domains_with_.empty() ? 0 : domains_with_.begin()->first;
}

}  // namespace minisched
