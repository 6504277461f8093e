#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lab/apiserver/controllers/controllers.h"
#include "lab/apiserver/faults/control.h"
#include "lab/apiserver/faults/faults.h"
#include "lab/apiserver/http.h"
#include "lab/apiserver/loop.h"
#include "lab/apiserver/metrics.h"
#include "lab/apiserver/registry.h"
#include "lab/apiserver/server.h"
#include "lab/apiserver/store.h"

namespace minisched::apiserver {

// The embedded API server without its connections: the objects, the controllers
// and the injected faults. Use it on the loop's thread only.
class ControlPlane {
 public:
  // Makes the server unavailable for the given time.
  using GoAway = std::function<void(std::chrono::milliseconds)>;

  // Creates the objects that every cluster has. `loop` must outlive the
  // control plane.
  ControlPlane(Loop& loop, const ServerOptions& options, GoAway go_away);

  ControlPlane(const ControlPlane&) = delete;
  ControlPlane& operator=(const ControlPlane&) = delete;

  // Sets the server's address, "host:port", which discovery returns to clients.
  // Call SetAddress() before Serve().
  void SetAddress(std::string address) { address_ = std::move(address); }

  // Answers a request. Calls `respond` once, now or later on the loop, unless
  // the loop ends first. Errors become replies.
  using Respond = std::function<void(Reply)>;
  void Serve(Request request, const Respond& respond);

  // Creates the objects of a manifest; see Server::Load().
  void Load(const std::string& manifest, const std::string& source);
  // Stores the objects of a manifest; see Server::Restore().
  std::vector<std::string> Restore(const std::string& manifest,
                                   const std::string& source);

  void SetFaults(const Faults& faults) { faults_ = faults; }
  Store& store() { return store_; }
  Registry& registry() { return registry_; }

 private:
  // Gives the owner references of an object that has just been created the uids
  // of the owners with these kinds and names, if there are such owners.
  void LinkToOwners(const Json& object);
  // `info` is nullopt if the request is not for a resource.
  Reply Handle(const Request& request, const std::optional<RequestInfo>& info);
  Reply HandleOther(const Request& request);
  // Returns the document at the path. Ignores the method. Throws StatusError
  // (404) if there is no document.
  Reply DocumentAt(const Request& request);

  Loop& loop_;
  Store store_;
  Registry registry_;
  Metrics metrics_;
  Faults faults_;
  Control control_;
  std::vector<std::unique_ptr<Controller>> controllers_;
  std::string address_;
  // The discovery documents, by path. Empty until the first request for one.
  std::map<std::string, Json> documents_;
};

}  // namespace minisched::apiserver
