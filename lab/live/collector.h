#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "lab/live/history.h"
#include "minisched/api/time.h"
#include "minisched/base/clock.h"
#include "minisched/base/mutex.h"
#include "minisched/base/wait_group.h"
#include "minisched/client/client.h"
#include "minisched/informer/shared_informer_factory.h"

namespace minisched::live {

// Fills a history with rows of the cluster's nodes and pods, and with items of
// other sources, such as the records of a scheduler. Works only while a page is
// connected, and for a minute after that, in which the page may come back. At
// other times, the history is empty, and no informer runs.
//
// If more than 2,000 items come between two calls of Collect(), keeps only the
// last one for each key, and adds an item with the number of the others.
//
// For one thread, except as noted.
class Collector {
 public:
  static constexpr std::chrono::seconds kLinger{60};
  static constexpr std::size_t kMaxItems = 2'000;
  // How often to check that the API server responds.
  static constexpr std::chrono::seconds kProbePeriod{2};

  // Both must outlive the collector, which follows the client's clock.
  Collector(Client& client, History& history);
  // Cancels the requests under way and blocks until they have ended.
  ~Collector();

  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;

  // Adds what is new to the history. `pages` is the number of pages that are
  // connected. With `all`, keeps all items, however many they are, such as
  // the earlier records of a scheduler. Returns false if there is nothing to
  // collect until the next page connects.
  bool Collect(std::size_t pages, bool all = false);

  // Adds an item of another source, which the next call of Collect() passes on.
  // For any thread.
  void Push(Item item) EXCLUDES(mu_);
  // Adds a state that pages show, unless it is unchanged. For any thread.
  void SetState(const std::string& name, const std::string& value)
      EXCLUDES(mu_);
  // Adds the number of records that are missing. For any thread.
  void PushDropped(std::uint64_t records) EXCLUDES(mu_);
  // Drops all items and starts again, because the scheduler has restarted.
  void Restart();

 private:
  void Start();
  void Stop();
  template <class T>
  void AddHandlers();
  // Adds an item with a "live" object of one member.
  template <class T>
  void PushLive(const std::string& name, const T& value, Remains remains)
      EXCLUDES(mu_);
  // Returns the new items in the order of their times.
  std::vector<Item> TakeItems() EXCLUDES(mu_);
  // Adds the deletions of pods that have earlier records, but were deleted
  // before the informers started: the informers don't report these deletions,
  // and a scheduler reports none for a pod that it has bound.
  void AddMissedDeletions(std::vector<Item>& items);
  // Checks now and then that the API server responds.
  void Probe();

  Client& client_;
  Clock& clock_;
  History& history_;

  std::unique_ptr<SharedInformerFactory> informers_;  // while collecting
  Time start_;  // just before the informers start
  // The last record of each pod from before start_, by uid, until the informer
  // has all pods.
  std::map<std::string, std::string> earlier_;
  Clock::TimePoint last_page_;  // when a page was last connected
  Clock::TimePoint next_probe_;
  std::atomic<bool> probing_ = false;
  std::stop_source stop_probe_;
  WaitGroup probes_;
  Mutex mu_;
  std::map<std::string, std::string> states_ GUARDED_BY(mu_);  // as reported
  // Since the last call of Collect().
  std::vector<Item> pending_ GUARDED_BY(mu_);
};

}  // namespace minisched::live
