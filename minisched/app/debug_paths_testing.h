#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "minisched/api/pod.h"
#include "minisched/app/debug_paths.h"
#include "minisched/app/pace.h"
#include "minisched/metrics/metrics_server.h"
#include "minisched/trace/trace.h"

namespace minisched {

// A scheduler without pods of its own: its trace, served beside metrics.
class ServedTrace {
 public:
  explicit ServedTrace(bool control = true, unsigned short port = 0)
      : paths(trace, pace,
              {.program = "minisched-13",
               .scheduler_name = "minisched",
               .configz = R"({"componentconfig":{}})",
               .control = control}),
        server_(
            std::in_place, "127.0.0.1", port, [] { return "metrics"; },
            [this](const http::Request& request) {
              return paths.Answer(request);
            }) {}

  const std::string& url() const { return server_->url(); }
  // Ends the server, and with it all streams.
  void Stop() { server_.reset(); }

  // Reports that a pod comes to a place. The name of the pod is its uid.
  void Move(const std::string& uid, Place place) {
    Pod pod;
    pod.metadata = {.name = uid, .namespace_name = "shop", .uid = uid};
    trace.Moved(pod, place, {.event = "E"});
  }
  // Reports an attempt of the pod "web". Returns true if somebody reads it, or
  // if the trace keeps it.
  bool Try(int number, bool failed = false) {
    bool described = false;
    trace.Tried(
        [&] {
          described = true;
          return Attempt{.pod = "shop/web",
                         .uid = "web",
                         .number = number,
                         .filters = {"F"},
                         .fits = std::vector<std::string>{"node-1"},
                         .node = "node-1"};
        },
        failed);
    return described;
  }

  Trace trace{"minisched", RealClock(), {}, {}, "minisched-13"};
  PaceSetter pace{trace, {}, {}};
  DebugPaths paths;

 private:
  std::optional<MetricsServer> server_;
};

}  // namespace minisched
