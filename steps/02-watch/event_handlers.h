#pragma once

#include <string>

#include "informers.h"
#include "minisched/informer/shared_informer.h"
#include "scheduling_queue.h"

namespace minisched {

// Puts the pods that nobody has bound yet and that ask for `scheduler_name`
// into `queue`, and takes them out again. To be called once, before the
// informers are started; `queue` must outlive them. Once the registration has
// synced, the queue has all pods that were there at the start.
//
// Follows kube-scheduler's eventhandlers.go.
HandlerRegistration AddAllEventHandlers(Informers& informers,
                                        SchedulingQueue& queue,
                                        const std::string& scheduler_name);

}  // namespace minisched
