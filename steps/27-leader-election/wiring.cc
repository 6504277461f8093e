#include <algorithm>
#include <chrono>

#include "minisched/api/namespace.h"
#include "minisched/api/pod_disruption_budget.h"
#include "minisched/api/service.h"
#include "minisched/api/workloads.h"
#include "scheduler.h"

namespace minisched {
namespace {

// Selects the pods that have not ended: the others need no node and use none.
constexpr char kNotEnded[] = "status.phase!=Succeeded,status.phase!=Failed";

// One thread is enough for the timers and callbacks of Permit and PreBind: they
// are short.
constexpr std::size_t kPermitThreads = 1;

// Longer backoffs could overflow Clock::Duration when they are doubled.
constexpr std::int64_t kMaxBackoffSeconds = 1'000'000'000;

Clock::Duration BackoffOf(std::int64_t seconds) {
  return std::chrono::seconds(std::min(seconds, kMaxBackoffSeconds));
}

bool AnyNeedsNodes(const KubeSchedulerConfiguration& configuration) {
  return !std::ranges::all_of(configuration.extenders,
                              &ExtenderConfig::node_cache_capable);
}

// Returns the profiles of the configuration. Their frameworks have no plugins
// yet.
Profiles NewProfiles(const KubeSchedulerConfiguration& configuration,
                     Client& event_client) {
  Profiles profiles;
  for (const KubeSchedulerProfile& profile : configuration.profiles) {
    const std::string& name = profile.scheduler_name;
    profiles[name] = {
        .framework = {},
        .recorder = std::make_unique<EventRecorder>(event_client, name),
        .percentage_of_nodes_to_score =
            profile.percentage_of_nodes_to_score.value_or(
                configuration.percentage_of_nodes_to_score)};
  }
  return profiles;
}

}  // namespace

void SchedulerOptions::AddFlags(Flags& flags) {
  flags.Add("--seed", &seed, "Seed for random choices");
}

Scheduler::Scheduler(const AppContext& context, const SchedulerOptions& options,
                     Clock& clock)
    : client_(context.client),
      clock_(clock),
      trace_(context.trace),
      metrics_(context.metrics),
      is_leader_(options.is_leader),
      random_(options.seed ? *options.seed : std::random_device{}()),
      event_client_(client_.config(), clock),
      extenders_(NewExtenders(options.configuration.extenders,
                              extender_calls_.get_token())),
      profiles_(NewProfiles(options.configuration, event_client_)),
      queue_(clock, trace_, Frameworks(profiles_),
             [this](const ObjectMeta& pod) {
               return informers_.Of<Pod>().store().Get(pod.namespace_name,
                                                       pod.name);
             },
             {.initial =
                  BackoffOf(options.configuration.pod_initial_backoff_seconds),
              .max = BackoffOf(options.configuration.pod_max_backoff_seconds)}),
      executor_(kPermitThreads, clock),
      waiting_pods_(executor_),
      offer_(
          trace_, [this](auto n) { return queue_.ActiveOrder(n); },
          [this](const std::string& uid, bool allow) {
            return waiting_pods_.EndWait(uid, allow);
          }),
      pod_groups_(clock),
      event_handlers_(queue_, cache_, waiting_pods_, pod_groups_,
                      [this](const Pod& pod) {
                        return profiles_.contains(pod.spec.scheduler_name);
                      }),
      informers_(context.client, clock) {
  client_.GuardWrites(is_leader_);
  // Extenders get whole objects, or the names of nodes.
  informers_.Add<Pod>(
      {.field_selector = kNotEnded, .keep_json = !extenders_.empty()});
  informers_.Add<Node>({.keep_json = AnyNeedsNodes(options.configuration)});
  informers_.Add<PodDisruptionBudget>({});
  informers_.Add<Namespace>({});
  informers_.Add<Service>({});
  informers_.Add<ReplicationController>({});
  informers_.Add<ReplicaSet>({});
  informers_.Add<StatefulSet>({});
  event_handlers_.AddAllEventHandlers(informers_);
  for (const KubeSchedulerProfile& profile : options.configuration.profiles) {
    AddPluginsOf(profile, options.registry);
  }
}

void Scheduler::AddPluginsOf(const KubeSchedulerProfile& configuration,
                             const Registry& registry) {
  Profile& profile = profiles_.at(configuration.scheduler_name);
  const auto retry = [this](const PodPtr& pod) { queue_.Retry(pod); };
  const Handle handle{.snapshot = snapshot_,
                      .informers = informers_,
                      .client = client_,
                      .waiting_pods = waiting_pods_,
                      .pods_in_pre_bind = pods_in_pre_bind_,
                      .executor = executor_,
                      .pod_groups = pod_groups_,
                      .cache = cache_,
                      .framework = profile.framework,
                      .extenders = extenders_,
                      .nominator = queue_.nominator(),
                      .recorder = *profile.recorder,
                      .random = random_,
                      .under_way = binding_cycles_,
                      .stop = requests_.get_token(),
                      .retry = retry,
                      .activate = [this](const std::vector<PodPtr>& pods) {
                        queue_.Activate(pods);
                      }};
  AddPlugins(profile.framework, registry, configuration, handle);
  if (!extenders_.empty()) profile.framework.AddExtenderEvents();
  event_handlers_.AddHandlersOfRegisteredKinds(informers_, profile.framework);
}

Scheduler::~Scheduler() {
  requests_.request_stop();
  waiting_pods_.Clear();
  binding_cycles_.WaitUntil(clock_, Clock::TimePoint::max());
  // The plugins' timers use waiting_pods_.
  executor_.Drain(Clock::TimePoint::max());
  client_.GuardWrites({});
}

}  // namespace minisched
