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

// The cluster that a scenario is played on, through its API server: objects of
// every kind, by their names in manifests. Calls wait for a server that is away
// to come back, for up to half a minute, but where they say otherwise. They
// throw what Client throws. A request that changes something is seen through
// even where `stop` asks to stop, so that what it has done is known.
// Thread-safe.
class Cluster {
 public:
  // Asks the server who it is.
  Cluster(const RestConfig& config, const std::stop_token& stop);

  Client& client() { return client_; }
  const RestConfig& client_config() const { return client_.config(); }
  const std::string& version() const { return version_; }

  // It is minisched-apiserver, which can misbehave and counts requests.
  bool IsEmbedded() const;
  // It is there for being played with: the embedded server, or what
  // `scripts/cluster` makes.
  bool IsOurs() const;

  // Whether objects of this kind are in namespaces.
  bool IsNamespaced(const ObjectName& object, const std::stop_token& stop) {
    return FindKind(object.api_version, object.kind, stop).namespaced;
  }

  // `namespace_name` is for kinds that have one. `scheduler_name` is whom pods
  // and pod templates ask for that ask for minisched. Returns the new object's
  // uid, or "" where a connection that broke has taken it along.
  std::string Create(const Manifest& object, const std::string& namespace_name,
                     const std::string& scheduler_name,
                     const std::stop_token& stop);
  // Creates it, or changes it to what the manifest says; returns its uid.
  std::string Apply(const Manifest& object, const std::string& namespace_name,
                    const std::string& scheduler_name,
                    const std::stop_token& stop);
  // Returns the object's uid.
  std::string Patch(const scenario::Patch& patch,
                    const std::string& namespace_name,
                    const std::stop_token& stop);
  // Those that match the name, which is a glob; returns their names.
  std::vector<std::string> Delete(const scenario::Delete& deletion,
                                  const std::string& namespace_name,
                                  const std::stop_token& stop);
  // An object that may be gone already.
  void DeleteOne(const ObjectName& object, const std::string& namespace_name,
                 const std::stop_token& stop);
  // As JSON; nullopt where there is none.
  std::optional<std::string> Get(const ObjectName& object,
                                 const std::string& namespace_name,
                                 const std::stop_token& stop);

  enum class IfAway { kWait, kThrow };

  std::vector<SeenEvent> Events(const std::string& namespace_name,
                                IfAway if_away, const std::stop_token& stop);

  // Of the embedded server only.

  // What all clients but players have asked for since it started.
  std::vector<RequestCount> Requests(IfAway if_away,
                                     const std::stop_token& stop);
  // Players are spared.
  void SetFaults(const std::string& document, const std::stop_token& stop);
  void Compact(const std::stop_token& stop);
  void GoAway(std::chrono::nanoseconds duration, const std::stop_token& stop);

 private:
  // Where objects of a kind are.
  struct Kind {
    std::string base;  // "/api/v1"
    std::string plural;
    bool namespaced = false;
  };

  Kind FindKind(const std::string& api_version, const std::string& kind,
                const std::stop_token& stop);
  std::string Path(const ObjectName& object, const std::string& namespace_name,
                   const std::stop_token& stop);
  // Sends until there is an answer. `maybe_done` becomes whether an earlier
  // attempt has got lost on its way, there or back.
  std::string Send(const Client::Request& request, const std::stop_token& stop,
                   bool* maybe_done = nullptr);
  std::string Ask(const std::string& path, IfAway if_away,
                  const std::stop_token& stop);

  Client client_;
  std::string version_;
  Mutex mu_;
  std::map<std::string, Kind> kinds_ GUARDED_BY(mu_);  // by apiVersion and kind
};

}  // namespace minisched::scenario
