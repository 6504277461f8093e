#include "lab/apiserver/faults/faults.h"

#include <fnmatch.h>

#include <algorithm>

#include "lab/apiserver/limits.h"
#include "minisched/api/parse_error.h"
#include "minisched/api/yaml.h"
#include "minisched/base/log.h"

namespace minisched::apiserver {
namespace {

bool MatchesGlob(const std::string& glob, const std::string& text) {
  if (glob.empty()) return true;
  const bool negated = glob.starts_with('!');
  const bool matches = fnmatch(glob.c_str() + negated, text.c_str(), 0) == 0;
  return matches != negated;
}

// Decides whether a fault applies to a request that it matches. If so,
// decrements `times`.
bool AppliesNow(Fault& fault) {
  if (fault.times == 0U) return false;
  if (fault.probability < 1) {
    // The results of std::uniform_real_distribution differ between standard
    // libraries.
    constexpr double kRange = 1.0 + std::mt19937::max();
    const auto drawn = static_cast<double>(fault.random());
    if (drawn >= fault.probability * kRange) return false;
  }
  if (fault.times) --*fault.times;
  return true;
}

// Adds `more`, the effect of a further fault, to `effect`.
void Add(const FaultEffect& more, FaultEffect& effect) {
  effect.latency += more.latency;
  effect.error = more.error;
  effect.delivery = more.delivery;
  effect.after = more.after;
  effect.watch_delay += more.watch_delay;
  if (more.watch_cut) {
    effect.watch_cut =
        std::min(*more.watch_cut, effect.watch_cut.value_or(*more.watch_cut));
  }
}

}  // namespace

bool FaultMatch::Matches(const Request& request,
                         const RequestInfo& info) const {
  const std::string requested =
      info.row->plural +
      (info.subresource.empty() ? "" : "/" + info.subresource);
  const bool is_request = info.verb != kProvision && info.verb != kBind;
  return ((is_request && verbs.empty()) || verbs.contains(info.verb)) &&
         (resource.empty() || resource == requested) &&
         MatchesGlob(ns, info.ns) && MatchesGlob(name, info.name) &&
         (!is_request || MatchesGlob(user_agent, request.Header("user-agent")));
}

Faults Faults::Parse(const std::string& text) {
  const auto documents = YamlToJson(text, kMaxValues);
  if (documents.size() != 1) {
    throw ParseError("the faults must be one document, found " +
                     std::to_string(documents.size()));
  }
  Faults faults;
  try {
    faults.document_ = Json::parse(documents.front());
  } catch (const Json::exception& error) {
    throw ParseError(error.what());  // a number is out of range
  }
  faults.faults_ = ParseFaults(faults.document_);
  faults.document_.emplace("faults", Json::array());
  for (Json& fault : faults.document_["faults"]) fault["applied"] = 0;
  return faults;
}

FaultEffect Faults::Select(const Request& request, const RequestInfo& info) {
  FaultEffect effect;
  for (std::size_t i = 0; i < faults_.size() && !effect.EndsRequest(); ++i) {
    Fault& fault = faults_[i];
    if (!fault.match.Matches(request, info) || !AppliesNow(fault)) continue;
    spdlog::debug("faults[{}] applies to {} {}", i, request.method,
                  request.path);
    Json& applied = document_["faults"][i]["applied"];
    applied = applied.get<std::uint64_t>() + 1;
    Add(fault.effect, effect);
  }
  return effect;
}

}  // namespace minisched::apiserver
