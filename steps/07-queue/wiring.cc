#include "plugins/registry.h"
#include "scheduler.h"

namespace minisched {
namespace {

// Selects the pods that have not ended: the others need no node and use none.
constexpr char kNotEnded[] = "status.phase!=Succeeded,status.phase!=Failed";

}  // namespace

void SchedulerOptions::AddFlags(Flags& flags) {
  flags.Add("--seed", &seed, "Seed for random choices");
  flags.Add("--node-number", &node_number,
            "Weight of the plugin NodeNumber; 0: off");
}

Scheduler::Scheduler(const AppContext& context, const SchedulerOptions& options,
                     Clock& clock)
    : client_(context.client),
      scheduler_name_(context.scheduler_name),
      clock_(clock),
      trace_(context.trace),
      metrics_(context.metrics),
      random_(options.seed ? *options.seed : std::random_device{}()),
      event_client_(client_.config(), clock),
      recorder_(event_client_, scheduler_name_),
      queue_(clock, trace_, framework_,
             [this](const ObjectMeta& pod) {
               return informers_.Of<Pod>().store().Get(pod.namespace_name,
                                                       pod.name);
             }),
      offer_(trace_, [this](auto n) { return queue_.ActiveOrder(n); }),
      event_handlers_(queue_, cache_, scheduler_name_),
      informers_(context.client, clock) {
  informers_.Add<Pod>({.field_selector = kNotEnded});
  informers_.Add<Node>({});
  const Handle handle{.snapshot = snapshot_};
  AddDefaultPlugins(framework_, handle);
  if (options.node_number != 0) AddNodeNumber(framework_, options.node_number);
  if (options.add_plugins) options.add_plugins(framework_, handle);
  event_handlers_.AddAllEventHandlers(informers_);
}

}  // namespace minisched
