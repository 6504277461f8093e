#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace minisched {

// The domains of one topology, such as the zones, and how many pods each of
// them has. Copies share the numbers of the constructor, and each of them has
// its own changes. Const access is thread-safe.
class TopologyDomains {
 public:
  // `counts` are the numbers of pods, by domain.
  explicit TopologyDomains(std::unordered_map<std::string, int> counts);

  // Adds `delta` to the domain's number of pods. Does nothing if there is no
  // such domain.
  void Update(const std::string& domain, int delta);

  // Returns the domain's number of pods: 0 if there is no such domain.
  int Count(const std::string& domain) const;
  // Returns the smallest number of pods of a domain: 0 if there are no domains.
  int Min() const;
  int size() const { return static_cast<int>(counts_->size()); }

 private:
  using Counts = std::unordered_map<std::string, int>;

  // The numbers of the constructor, and pointers to them, the smallest first.
  std::shared_ptr<const Counts> counts_;
  std::shared_ptr<const std::vector<const Counts::value_type*>> sorted_;
  // The present numbers of the domains that have changed since.
  Counts changed_;
};

}  // namespace minisched
