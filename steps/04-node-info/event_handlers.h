#pragma once

#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "minisched/informer/shared_informer_factory.h"
#include "queue/scheduling_queue.h"

namespace minisched {

// Updates the queue when informers report changes: the queue gets the pending
// pods of this scheduler. Thread-safe after AddAllEventHandlers(). Follows
// kube-scheduler's eventhandlers.go.
class EventHandlers {
 public:
  // `queue` must outlive the informers that call the handlers.
  EventHandlers(SchedulingQueue& queue, std::string scheduler_name)
      : queue_(queue), scheduler_name_(std::move(scheduler_name)) {}

  // Registers the handlers. Call once, before the informers are started; this
  // object must outlive them.
  void AddAllEventHandlers(SharedInformerFactory& informers);

  // Blocks until the handlers have been called for all objects that existed
  // when the informers started. Returns false if `stop` asked to stop first.
  bool WaitForHandlersSync(const std::stop_token& stop) const;

 private:
  void AddPod(const PodPtr& pod);
  void UpdatePod(const PodPtr& old, const PodPtr& pod);
  void DeletePod(const PodPtr& pod);

  void AddPodToSchedulingQueue(const PodPtr& pod);
  void UpdatePodInSchedulingQueue(const PodPtr& old, const PodPtr& pod);
  void DeletePodFromSchedulingQueue(const PodPtr& pod);

  bool ResponsibleForPod(const Pod& pod) const;

  SchedulingQueue& queue_;
  const std::string scheduler_name_;
  std::vector<HandlerRegistration> registrations_;
};

}  // namespace minisched
