#pragma once

#include <stop_token>

#include "minisched/api/node.h"
#include "minisched/api/pod.h"
#include "minisched/base/clock.h"
#include "minisched/client/client.h"
#include "minisched/informer/shared_informer.h"

namespace minisched {

// What the scheduler knows of the cluster: copies that watches keep up to date.
// Thread-safe.
struct Informers {
  // Pods that have run already take up nothing and want nothing: the API server
  // is asked to leave them out. `client` and `clock` must outlive this.
  Informers(Client& client, Clock& clock)
      : pods(client,
             {.field_selector = "status.phase!=Succeeded,status.phase!=Failed",
              .clock = &clock}),
        nodes(client, {.clock = &clock}) {}

  // Both run until `stop` asks to stop, or this is destroyed.
  void Start(const std::stop_token& stop) {
    nodes.Start(stop);
    pods.Start(stop);
  }

  // Blocks until all is known that was there at the start. Returns false if
  // `stop` asked to stop first.
  bool WaitForCacheSync(const std::stop_token& stop) const {
    return nodes.WaitForCacheSync(stop) && pods.WaitForCacheSync(stop);
  }

  SharedInformer<Pod> pods;
  SharedInformer<Node> nodes;
};

}  // namespace minisched
