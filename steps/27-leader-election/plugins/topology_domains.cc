#include "plugins/topology_domains.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace minisched {

TopologyDomains::TopologyDomains(std::unordered_map<std::string, int> counts)
    : counts_(std::make_shared<const Counts>(std::move(counts))) {
  std::vector<const Counts::value_type*> sorted;
  for (const auto& domain : *counts_) sorted.push_back(&domain);
  std::ranges::sort(sorted, {},
                    [](const auto* domain) { return domain->second; });
  sorted_ = std::make_shared<const decltype(sorted)>(std::move(sorted));
}

void TopologyDomains::Update(const std::string& domain, int delta) {
  if (!counts_->contains(domain)) return;
  changed_[domain] = Count(domain) + delta;
}

int TopologyDomains::Count(const std::string& domain) const {
  for (const Counts* counts : {&changed_, counts_.get()}) {
    const auto count = counts->find(domain);
    if (count != counts->end()) return count->second;
  }
  return 0;
}

int TopologyDomains::Min() const {
  if (counts_->empty()) return 0;
  int min = std::numeric_limits<int>::max();
  for (const auto& [domain, count] : changed_) min = std::min(min, count);
  const auto unchanged = std::ranges::find_if(
      *sorted_,
      [&](const auto* domain) { return !changed_.contains(domain->first); });
  if (unchanged != sorted_->end()) min = std::min(min, (*unchanged)->second);
  return min;
}

}  // namespace minisched
