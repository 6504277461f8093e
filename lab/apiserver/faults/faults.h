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
#include "lab/apiserver/http/http.h"
#include "lab/apiserver/loop.h"
#include "lab/apiserver/object.h"
#include "lab/apiserver/request_info.h"

namespace minisched::apiserver {

// What befalls one request. By default nothing does.
struct FaultEffect {
  // Before the request is handled.
  std::chrono::milliseconds latency{0};
  // What the client gets in place of the answer: an error, or nothing at all.
  std::optional<StatusError> error;
  Reply::Delivery delivery = Reply::Delivery::kSent;
  // That comes after the request has taken effect, not instead of it.
  bool after = false;
  // Of a watch: each event is sent so much later, and the connection is broken
  // off so long after the beginning.
  std::chrono::milliseconds watch_delay{0};
  std::optional<std::chrono::milliseconds> watch_cut;

  // There is no answer.
  bool EndsRequest() const {
    return error || delivery != Reply::Delivery::kSent;
  }
};

// Answers a request as `effect` has it: `handle` makes it take effect, and
// `respond` is called once, now or later. On the loop's thread only.
void Befall(Loop& loop, const FaultEffect& effect,
            const std::function<Reply()>& handle,
            const std::function<void(Reply)>& respond);

// Which requests a fault is for. What is empty matches all.
struct FaultMatch {
  std::set<std::string> verbs;  // RequestInfo's
  std::string resource;         // "pods", "pods/binding"
  // Globs, as fnmatch(3) takes them. The name is that of the path.
  // With "!" before it: all but those.
  std::string ns;
  std::string name;
  std::string user_agent;

  bool Matches(const Request& request, const RequestInfo& info) const;
};

struct Fault {
  FaultMatch match;
  double probability = 1;
  std::optional<std::uint64_t> times;  // that are left; then it is used up
  FaultEffect effect;
  std::mt19937 random{};  // of its own: other faults don't change its chances
};

// The faults of a document. Throws ParseError: the path to what is wrong, ": ",
// and what is.
std::vector<Fault> ParseFaults(const Json& document);

// How the server misbehaves: what docs/reference/embedded-api-server.md says
// under "Making it misbehave". On the loop's thread only. By default it
// doesn't.
class Faults {
 public:
  // Of a document, YAML or JSON. Throws ParseError, with the line and column or
  // the path of what is wrong: "faults[0].probability: must be from 0 to 1, is
  // 2".
  static Faults Parse(const std::string& text);

  // What befalls this request, which is counted with the faults that strike it.
  // They are tried in their order until one ends the request; those before it
  // add up.
  FaultEffect Strike(const Request& request, const RequestInfo& info);

  // The document, in which each fault says how often it has `struck`.
  const Json& ToJson() const { return document_; }

 private:
  Json document_ = {{"faults", Json::array()}};
  std::vector<Fault> faults_;
};

}  // namespace minisched::apiserver
