#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "cache/snapshot.h"
#include "framework/diagnosis.h"
#include "framework/framework.h"
#include "framework/status.h"
#include "minisched/api/pod.h"
#include "minisched/base/task.h"
#include "minisched/client/rest_config.h"
#include "minisched/client/transport.h"
#include "minisched/config/extender.h"
#include "preemption/victims.h"

namespace minisched {

// Calls a program over HTTP, which rejects nodes, scores them, checks victims,
// or binds pods. Thread-safe. Follows kube-scheduler's extender.go.
class Extender {
 public:
  // `stop` cancels the calls of scheduling cycles, which then throw Cancelled.
  // Throws ConfigError if the URL or a certificate can't be used.
  Extender(ExtenderConfig config, std::stop_token stop);

  // Returns the extender's URL.
  const std::string& Name() const { return config_.url_prefix; }
  // Returns true if the scheduler goes on when the extender fails.
  bool is_ignorable() const { return config_.ignorable; }
  bool is_filter() const { return !config_.filter_verb.empty(); }
  bool is_prioritizer() const { return !config_.prioritize_verb.empty(); }
  bool is_binder() const { return !config_.bind_verb.empty(); }
  bool supports_preemption() const { return !config_.preempt_verb.empty(); }

  // Returns true if the extender must be asked about the pod: it manages no
  // resources, or one that the pod requests or has a limit for.
  bool IsInterested(const Pod& pod) const;

  // Each of the following calls sends one request. All but Bind() block until
  // the response. An error of the call, or in the response, is a status whose
  // message names the URL.

  // Returns the nodes that the extender allows, and puts its reasons against
  // the others into `statuses`.
  tl::expected<Nodes, Status> Filter(const Pod& pod, const Nodes& nodes,
                                     NodeToStatus& statuses) const;

  // Returns the nodes' scores, with the extender's weight. The score of a node
  // that is not in the response is 0.
  tl::expected<PluginNodeScores, Status> Prioritize(const Pod& pod,
                                                    const Nodes& nodes) const;

  // Returns the candidates that the extender allows, with the victims that it
  // has chosen.
  tl::expected<std::vector<Candidate>, Status> ProcessPreemption(
      const Pod& pod, const std::vector<Candidate>& candidates,
      const Snapshot& snapshot) const;

  // Asks the extender to send the pod's Binding. `pod` and `node_name` must
  // live until the task ends.
  Task<Status> Bind(const Pod& pod, const std::string& node_name,
                    std::stop_token stop) const;

 private:
  HttpRequest RequestOf(const std::string& verb, std::string arguments) const;
  // Sends a request, and returns the response as a T, or an error.
  template <class T>
  tl::expected<T, Status> Call(const std::string& verb,
                               std::string arguments) const;
  template <class T>
  tl::expected<T, Status> Answer(const std::string& verb,
                                 const HttpResponse& response) const;
  // Returns the JSON of a call about the pod and the nodes.
  std::string Arguments(const Pod& pod, const Nodes& nodes) const;
  // Returns an error whose message names the extender's URL.
  tl::unexpected<Status> Error(const std::string& message) const;

  const ExtenderConfig config_;
  const std::stop_token stop_;
  const RestConfig server_;
  const std::unique_ptr<Transport> transport_;
};

// The extenders in the order in which they are asked.
using Extenders = std::vector<std::unique_ptr<const Extender>>;

// Returns the configured extenders in their order, but ignorable ones last.
Extenders NewExtenders(const std::vector<ExtenderConfig>& configs,
                       const std::stop_token& stop);

}  // namespace minisched
