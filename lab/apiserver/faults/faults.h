#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "lab/apiserver/errors.h"
#include "lab/apiserver/http.h"
#include "lab/apiserver/loop.h"
#include "lab/apiserver/object.h"
#include "lab/apiserver/request_info.h"

namespace minisched::apiserver {

// The effect of faults on one request. By default there is none.
struct FaultEffect {
  // The delay before the request is handled.
  std::chrono::milliseconds latency{0};
  // What the client gets instead of the response: an error, or nothing.
  std::optional<StatusError> error;
  Reply::Delivery delivery = Reply::Delivery::kSent;
  // True if the handler is called although the client does not get the
  // handler's response.
  bool after = false;
  // For watches: the delay of each event, and the time after which the
  // connection is closed.
  std::chrono::milliseconds watch_delay{0};
  std::optional<std::chrono::milliseconds> watch_cut;

  // True if the client does not get the handler's response.
  bool EndsRequest() const {
    return error || delivery != Reply::Delivery::kSent;
  }
};

// Answers a request under the given effect of faults. Calls `handle` unless the
// effect ends the request first. Calls `respond` once, now or later. Call this
// function on the loop's thread only.
void ApplyEffect(Loop& loop, const FaultEffect& effect,
                 const std::function<Reply()>& handle,
                 const std::function<void(Reply)>& respond);

// Verbs for the work of controllers, which is not a request: the volume
// provisioner makes a volume for a claim, and the volume controller binds a
// claim to its volume.
inline constexpr char kProvision[] = "provision";
inline constexpr char kBind[] = "bind";

// Selects the requests of a fault. An empty member matches all requests.
struct FaultMatch {
  std::set<std::string> verbs;  // as in RequestInfo, kProvision or kBind
  std::string resource;         // "pods", "pods/binding"
  // Globs, as in fnmatch(3). A leading "!" negates the glob. `ns` and `name`
  // are compared with those in the path.
  std::string ns;
  std::string name;
  std::string user_agent;

  bool Matches(const Request& request, const RequestInfo& info) const;
};

struct Fault {
  FaultMatch match;
  double probability = 1;
  std::optional<std::uint64_t> times;  // how often it may still apply
  FaultEffect effect;
  // Each fault has its own generator, so that faults draw independently.
  std::mt19937 random{};
};

// Parses the faults of a document. Throws ParseError with the path of the
// invalid field: "faults[0].times: must be …".
std::vector<Fault> ParseFaults(const Json& document);

// The injected faults, which docs/reference/embedded-api-server.md describes
// under "Injecting faults". By default there are none. Use it on the loop's
// thread only.
class Faults {
 public:
  // Parses a document in YAML or JSON. Throws ParseError, with the line and
  // column or the path of the error: "faults[0].probability: must be from 0 to
  // 1, is 2".
  static Faults Parse(const std::string& text);

  // Returns the combined effect of the faults that apply to a request, and
  // counts each of them as applied. Tries the faults in order, up to the first
  // that ends the request. Latencies and delays add up, and the earliest cut
  // of a watch counts.
  FaultEffect Select(const Request& request, const RequestInfo& info);

  // Returns the faults as a document that Parse() accepts. The field `applied`
  // of each fault is the number of requests to which the fault has applied.
  const Json& ToJson() const { return document_; }

 private:
  Json document_ = {{"faults", Json::array()}};
  std::vector<Fault> faults_;
};

}  // namespace minisched::apiserver
