#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "minisched/apiserver/faults/fault_effect.h"
#include "minisched/apiserver/http/http.h"
#include "minisched/apiserver/object.h"
#include "minisched/apiserver/request_info.h"

namespace minisched::apiserver {

// Which requests a fault is for. What is empty matches all.
struct FaultMatch {
  std::set<std::string> verbs;  // RequestInfo's
  std::string resource;         // "pods", "pods/binding"
  // Globs, as fnmatch(3) takes them. The name is that of the path.
  std::string ns;
  std::string name;
  std::string user_agent;  // with "!" before it: all but those

  bool Matches(const Request& request, const RequestInfo& info) const;
};

struct Fault {
  FaultMatch match;
  // Only watches, whatever `match` says.
  bool of_watches = false;
  double probability = 1;
  std::optional<std::uint64_t> times;  // then it is used up
  FaultEffect effect;

  std::uint64_t struck = 0;
  std::mt19937 random{};  // of its own: other faults don't change its chances
};

// How the server misbehaves: what docs/reference/embedded-api-server.md says
// under "Making it misbehave". On the loop's thread only.
class Faults {
 public:
  // None.
  Faults() = default;
  // Of a document. Throws ParseError, with the path to what is wrong:
  // "faults[0].probability: must be from 0 to 1, is 2".
  explicit Faults(const Json& document);
  // The same of a YAML or JSON text.
  static Faults Parse(const std::string& text);

  // What befalls this request, which is counted with the faults that strike it.
  // They are tried in their order until one ends the request; those before it
  // add up.
  FaultEffect Strike(const Request& request, const RequestInfo& info);

  // The document, in which each fault says how often it has `struck`.
  Json ToJson() const;

 private:
  Json document_ = {{"faults", Json::array()}};
  std::vector<Fault> faults_;
};

}  // namespace minisched::apiserver
