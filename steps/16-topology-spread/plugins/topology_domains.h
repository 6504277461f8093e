#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace minisched {

// The domains of one topology, such as the zones, and how many pods each of
// them has. A copy has its own counts, and shares the names of the domains.
// Const access is thread-safe.
class TopologyDomains {
 public:
  // `counts` are the numbers of pods, by domain.
  explicit TopologyDomains(const std::unordered_map<std::string, int>& counts);

  // Adds `delta` to the domain's number of pods. Does nothing if there is no
  // such domain.
  void Update(const std::string& domain, int delta);

  // Returns the domain's number of pods: 0 if there is no such domain.
  int Count(const std::string& domain) const;
  // Returns the smallest number of pods of a domain: 0 if there are no domains.
  int Min() const;
  int size() const { return static_cast<int>(counts_.size()); }

 private:
  // The domains' positions in counts_.
  std::shared_ptr<const std::unordered_map<std::string, std::size_t>> index_;
  std::vector<int> counts_;
  // How many domains have each number of pods. There are no entries of 0, so
  // the first key is the smallest number.
  std::map<int, int> domains_with_;
};

}  // namespace minisched
