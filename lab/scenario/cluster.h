#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "lab/scenario/cluster_state.h"
#include "lab/scenario/scenario.h"
#include "minisched/client/client.h"

namespace minisched::scenario {

// A client of the cluster that a scenario is played on, for objects of any
// kind. If the server is unreachable, calls that send requests retry for up to
// 30 s unless documented otherwise. They throw what Client throws, and
// CannotPlay for a kind that the server does not have. `stop` ends the
// retries, but does not interrupt a request that changes something, so that the
// caller learns the result of that request. Thread-safe.
class Cluster {
 public:
  // Reads the server's version, without retries.
  Cluster(const RestConfig& config, const std::stop_token& stop);

  Client& client() { return client_; }
  const RestConfig& client_config() const { return client_.config(); }
  const std::string& version() const { return version_; }

  // True for minisched-apiserver, which injects faults and counts requests.
  bool IsEmbedded() const;
  // True for the embedded server and for a cluster that `scripts/cluster`
  // created, which is recognized by its context in the kubeconfig.
  bool IsTestCluster() const;

  // True if objects of this kind live in namespaces.
  bool IsNamespaced(const ObjectName& object, const std::stop_token& stop) {
    return FindKind(object.api_version, object.kind, stop).namespaced;
  }

  // Creates the object. Cluster-scoped kinds ignore `namespace_name`.
  // `scheduler_name` replaces the schedulerName `minisched` in pods and pod
  // templates. Returns the new object's uid, or "" if a broken connection lost
  // the response.
  std::string Create(const Manifest& object, const std::string& namespace_name,
                     const std::string& scheduler_name,
                     const std::stop_token& stop);
  // Creates the object, or merges the manifest into the existing object.
  // Returns the object's uid, or "" as Create() does.
  std::string Apply(const Manifest& object, const std::string& namespace_name,
                    const std::string& scheduler_name,
                    const std::stop_token& stop);
  // Patches the object and returns its uid.
  std::string Patch(const scenario::Patch& patch,
                    const std::string& namespace_name,
                    const std::stop_token& stop);
  // Deletes the objects whose names match a glob and returns their names.
  std::vector<std::string> Delete(const scenario::Delete& deletion,
                                  const std::string& namespace_name,
                                  const std::stop_token& stop);
  // Removes the finalizers of all pods in the namespace, which could keep the
  // pods from being deleted.
  void RemoveFinalizersOfPods(const std::string& namespace_name,
                              const std::stop_token& stop);
  // Deletes one object. Does nothing if the object does not exist.
  void DeleteOne(const ObjectName& object, const std::string& namespace_name,
                 const std::stop_token& stop);
  // Returns the object as JSON, or nullopt if it does not exist.
  std::optional<std::string> Get(const ObjectName& object,
                                 const std::string& namespace_name,
                                 const std::stop_token& stop);

  // What to do while the server is unreachable: retry, or throw TransportError.
  enum class IfAway { kWait, kThrow };

  // Returns the namespace's events about pods.
  std::vector<PodEvent> Events(const std::string& namespace_name,
                               IfAway if_away, const std::stop_token& stop);

  // The calls below work on the embedded server only.

  // Returns the number of requests since the server started, from all clients
  // except players.
  std::vector<RequestCount> Requests(IfAway if_away,
                                     const std::stop_token& stop);
  // Replaces the server's faults. A fault without a userAgent does not affect
  // requests of players.
  void SetFaults(const std::string& document, const std::stop_token& stop);
  // Compacts the server's history.
  void Compact(const std::stop_token& stop);
  // Makes the server unreachable for `duration`.
  void GoAway(std::chrono::nanoseconds duration, const std::stop_token& stop);

 private:
  // The parts of the path of a kind's objects.
  struct Kind {
    std::string base;  // "/api/v1"
    std::string plural;
    bool namespaced = false;
  };

  Kind FindKind(const std::string& api_version, const std::string& kind,
                const std::stop_token& stop);
  std::string Path(const ObjectName& object, const std::string& namespace_name,
                   const std::stop_token& stop);
  // Sends a request, and retries for up to 30 s if the server is unreachable.
  // Sets `maybe_done` to true if an attempt lost its connection: the server may
  // have carried out that attempt.
  std::string Send(const Client::Request& request, const std::stop_token& stop,
                   bool* maybe_done = nullptr);
  std::string GetText(const std::string& path, IfAway if_away,
                      const std::stop_token& stop);

  Client client_;
  std::string version_;
  Mutex mu_;
  std::map<std::string, Kind> kinds_ GUARDED_BY(mu_);  // by "apiVersion kind"
};

}  // namespace minisched::scenario
