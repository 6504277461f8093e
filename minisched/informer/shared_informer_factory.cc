#include "minisched/informer/shared_informer_factory.h"

#include <algorithm>

namespace minisched {

SharedInformerBase* SharedInformerFactory::Find(std::type_index type) const {
  for (const Entry& entry : entries_) {
    if (entry.type == type) return entry.informer.get();
  }
  return nullptr;
}

std::vector<SharedInformerBase*> SharedInformerFactory::Started() const {
  MutexLock lock(mu_);
  std::vector<SharedInformerBase*> informers;
  for (const Entry& entry : entries_) {
    if (entry.started) informers.push_back(entry.informer.get());
  }
  return informers;
}

void SharedInformerFactory::Start(const std::stop_token& stop) {
  MutexLock lock(mu_);
  for (Entry& entry : entries_) {
    if (entry.started) continue;
    entry.started = true;
    entry.informer->Start(stop);
  }
}

bool SharedInformerFactory::WaitForCacheSync(
    const std::stop_token& stop) const {
  const auto informers = Started();
  return std::all_of(
      informers.begin(), informers.end(),
      [&](const auto* informer) { return informer->WaitForCacheSync(stop); });
}

void SharedInformerFactory::Shutdown() {
  for (SharedInformerBase* informer : Started()) informer->Shutdown();
}

}  // namespace minisched
