#pragma once

#include <functional>
#include <random>
#include <stop_token>
#include <vector>

#include "cache/cache.h"
#include "cache/pod_groups.h"
#include "extender.h"
#include "framework/framework.h"
#include "framework/handle.h"
#include "framework/pods_in_pre_bind.h"
#include "framework/waiting_pods.h"
#include "minisched/base/executor.h"
#include "minisched/base/fake_clock.h"
#include "minisched/base/wait_group.h"
#include "minisched/client/client.h"
#include "minisched/config/load.h"
#include "minisched/events/event_recorder.h"
#include "minisched/informer/shared_informer_factory.h"
#include "plugins/registry.h"
#include "queue/nominator.h"

namespace minisched {

// The parts of handles that tests don't name. All tests share them, and no
// server is behind the client.
struct UnusedParts {
  FakeClock clock;
  Client client{{.server = "http://127.0.0.1:1"}, clock};
  SharedInformerFactory informers{client, clock};
  Executor executor{1, clock};
  WaitingPods waiting_pods{executor};
  PodsInPreBind pods_in_pre_bind;
  PodGroups pod_groups{clock};
  Cache cache;
  Framework framework;
  Extenders extenders;
  Nominator nominator;
  EventRecorder recorder{client, "minisched"};
  std::mt19937_64 random{1};
  WaitGroup under_way;
};

inline UnusedParts& Unused() {
  static UnusedParts parts;
  return parts;
}

// The parts of a handle besides the snapshot. A test names those that it uses.
struct HandleParts {
  SharedInformerFactory& informers = Unused().informers;
  Client& client = Unused().client;
  WaitingPods& waiting_pods = Unused().waiting_pods;
  PodsInPreBind& pods_in_pre_bind = Unused().pods_in_pre_bind;
  Executor& executor = Unused().executor;
  PodGroups& pod_groups = Unused().pod_groups;
  const Cache& cache = Unused().cache;
  const Framework& framework = Unused().framework;
  const Extenders& extenders = Unused().extenders;
  const Nominator& nominator = Unused().nominator;
  EventRecorder& recorder = Unused().recorder;
  std::mt19937_64& random = Unused().random;
  WaitGroup& under_way = Unused().under_way;
  std::stop_token stop = {};
  std::function<void(const PodPtr&)> retry = [](const auto& /*pod*/) {};
  std::function<void(const std::vector<PodPtr>&)> activate =
      [](const auto& /*pods*/) {};
};

// Returns the handle of a plugin in a test.
inline Handle NewHandle(const Snapshot& snapshot,
                        const HandleParts& parts = {}) {
  return {.snapshot = snapshot,
          .informers = parts.informers,
          .client = parts.client,
          .waiting_pods = parts.waiting_pods,
          .pods_in_pre_bind = parts.pods_in_pre_bind,
          .executor = parts.executor,
          .pod_groups = parts.pod_groups,
          .cache = parts.cache,
          .framework = parts.framework,
          .extenders = parts.extenders,
          .nominator = parts.nominator,
          .recorder = parts.recorder,
          .random = parts.random,
          .under_way = parts.under_way,
          .stop = parts.stop,
          .retry = parts.retry,
          .activate = parts.activate};
}

// Adds the plugins of the default profile, except DefaultPreemption.
inline void AddDefaultPlugins(Framework& framework, const Handle& handle) {
  const Registry registry = NewInTreeRegistry();
  KubeSchedulerProfile profile =
      DefaultConfiguration(FeaturesOf(registry)).profiles[0];
  std::erase_if(profile.plugins.multi_point.enabled,
                [](const PluginEntry& plugin) {
                  return plugin.name == "DefaultPreemption";
                });
  AddPlugins(framework, registry, profile, handle);
}

}  // namespace minisched
