#include "event_handlers.h"

#include <memory>

namespace minisched {
namespace {

using PodPtr = std::shared_ptr<const Pod>;

bool IsAssigned(const Pod& pod) { return !pod.spec.node_name.empty(); }
// Nobody may try it yet. Gates can be taken away, but never added.
bool IsGated(const Pod& pod) { return !pod.spec.scheduling_gates.empty(); }

}  // namespace

HandlerRegistration AddAllEventHandlers(Informers& informers,
                                        SchedulingQueue& queue,
                                        const std::string& scheduler_name) {
  const auto is_ours = [scheduler_name](const Pod& pod) {
    return pod.spec.scheduler_name == scheduler_name;
  };
  return informers.pods.AddEventHandler(
      {.on_add =
           [=, &queue](const PodPtr& pod, bool /*is_in_initial_list*/) {
             if (IsAssigned(*pod) || IsGated(*pod) || !is_ours(*pod)) return;
             queue.Add(pod);
           },
       .on_update =
           [=, &queue](const PodPtr& old, const PodPtr& pod) {
             if (IsAssigned(*old)) return;
             if (IsAssigned(*pod)) {  // by us, or by somebody else
               if (is_ours(*old)) queue.Delete(*pod);
             } else if (is_ours(*old) && !IsGated(*pod)) {
               queue.Update(pod);
             }
           },
       .on_delete =
           [=, &queue](const PodPtr& pod) {
             if (is_ours(*pod)) queue.Delete(*pod);
           }});
}

}  // namespace minisched
