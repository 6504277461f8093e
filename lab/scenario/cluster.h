#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "lab/scenario/scenario.h"
#include "lab/scenario/world.h"
#include "minisched/client/client.h"

namespace minisched::scenario {

// The cluster that a scenario is played on. It creates, changes and deletes
// objects of any kind through the API server. If the server is unreachable,
// calls retry for up to 30 s unless documented otherwise. They throw what
// Client throws. `stop` does not interrupt a request that changes something, so
// that the caller knows its result. Thread-safe.
class Cluster {
 public:
  // Reads the server's version.
  Cluster(const RestConfig& config, const std::stop_token& stop);

  Client& client() { return client_; }
  const RestConfig& client_config() const { return client_.config(); }
  const std::string& version() const { return version_; }

  // True for minisched-apiserver, which injects faults and counts requests.
  bool IsEmbedded() const;
  // True for a test cluster: the embedded server, or one that
  // `scripts/cluster` created.
  bool IsOurs() const;

  // True if objects of this kind live in namespaces.
  bool IsNamespaced(const ObjectName& object, const std::stop_token& stop) {
    return FindKind(object.api_version, object.kind, stop).namespaced;
  }

  // Creates the object. `namespace_name` is ignored for cluster-scoped kinds.
  // `scheduler_name` replaces the schedulerName `minisched` in pods and pod
  // templates. Returns the new object's uid, or "" if a broken connection lost
  // the response.
  std::string Create(const Manifest& object, const std::string& namespace_name,
                     const std::string& scheduler_name,
                     const std::stop_token& stop);
  // Creates the object, or merges the manifest into an existing one. Returns
  // the object's uid.
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
  // Deletes one object. An object that does not exist is not an error.
  void DeleteOne(const ObjectName& object, const std::string& namespace_name,
                 const std::stop_token& stop);
  // Returns the object as JSON, or nullopt if it does not exist.
  std::optional<std::string> Get(const ObjectName& object,
                                 const std::string& namespace_name,
                                 const std::stop_token& stop);

  enum class IfAway { kWait, kThrow };

  std::vector<PodEvent> Events(const std::string& namespace_name,
                               IfAway if_away, const std::stop_token& stop);

  // The calls below work on the embedded server only.

  // Returns how many requests clients other than players have made since the
  // server started.
  std::vector<RequestCount> Requests(IfAway if_away,
                                     const std::stop_token& stop);
  // Replaces the server's faults. Requests of players are not affected.
  void SetFaults(const std::string& document, const std::stop_token& stop);
  void Compact(const std::stop_token& stop);
  void GoAway(std::chrono::nanoseconds duration, const std::stop_token& stop);

 private:
  // The path of a kind's objects.
  struct Kind {
    std::string base;  // "/api/v1"
    std::string plural;
    bool namespaced = false;
  };

  Kind FindKind(const std::string& api_version, const std::string& kind,
                const std::stop_token& stop);
  std::string Path(const ObjectName& object, const std::string& namespace_name,
                   const std::stop_token& stop);
  // Retries until the server answers. Sets `maybe_done` to true if an earlier
  // attempt lost its connection, so that the server may have carried it out.
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
