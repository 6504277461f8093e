#include "minisched/apiserver/faults/faults.h"

#include <fnmatch.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "minisched/api/parse_error.h"
#include "minisched/api/yaml.h"
#include "minisched/apiserver/faults/fault_parser.h"

namespace minisched::apiserver {
namespace {

bool MatchesGlob(const std::string& glob, const std::string& text) {
  return glob.empty() || fnmatch(glob.c_str(), text.c_str(), 0) == 0;
}

bool MatchesAgent(const std::string& glob, const std::string& agent) {
  if (!glob.starts_with('!')) return MatchesGlob(glob, agent);
  return !MatchesGlob(glob.substr(1), agent);
}

// By chance, as far as it is left to it.
bool Strikes(Fault& fault) {
  if (fault.times && fault.struck >= *fault.times) return false;
  if (fault.probability < 1) {
    // Not std::uniform_real_distribution, which each library does its own way.
    constexpr double kRange = 1.0 + std::mt19937::max();
    const auto drawn = static_cast<double>(fault.random());
    if (drawn >= fault.probability * kRange) return false;
  }
  ++fault.struck;
  return true;
}

// Adds what a further fault does.
void Add(const FaultEffect& more, FaultEffect& effect) {
  effect.latency += more.latency;
  effect.end = more.end;
  effect.after = more.after;
  effect.error = more.error;
  effect.watch_delay += more.watch_delay;
  if (more.watch_cut) {
    effect.watch_cut =
        std::min(*more.watch_cut, effect.watch_cut.value_or(*more.watch_cut));
  }
}

}  // namespace

bool FaultMatch::Matches(const Request& request,
                         const RequestInfo& info) const {
  if (!verbs.empty() && !verbs.contains(info.verb)) return false;
  if (!resource.empty() &&
      resource != (info.subresource.empty()
                       ? info.row->plural
                       : info.row->plural + "/" + info.subresource)) {
    return false;
  }
  return MatchesGlob(ns, info.ns) && MatchesGlob(name, info.name) &&
         MatchesAgent(user_agent, request.Header("user-agent"));
}

Faults::Faults(const Json& document)
    : document_(document), faults_(ParseFaults(document)) {
  document_.emplace("faults", Json::array());
}

Faults Faults::Parse(const std::string& text) {
  const auto documents = YamlToJson(text);
  if (documents.size() != 1) {
    throw ParseError("the document: one is wanted, there are " +
                     std::to_string(documents.size()));
  }
  try {
    return Faults(Json::parse(documents.front()));
  } catch (const Json::exception& error) {
    throw ParseError(error.what());  // A number out of range.
  }
}

FaultEffect Faults::Strike(const Request& request, const RequestInfo& info) {
  FaultEffect effect;
  for (std::size_t i = 0; i < faults_.size(); ++i) {
    Fault& fault = faults_[i];
    if (fault.of_watches && info.verb != "watch") continue;
    if (!fault.match.Matches(request, info) || !Strikes(fault)) continue;
    spdlog::debug("faults[{}] strikes {} {}", i, request.method, request.path);
    Add(fault.effect, effect);
    if (effect.end != FaultEffect::End::kAnswer) break;
  }
  return effect;
}

Json Faults::ToJson() const {
  Json document = document_;
  for (std::size_t i = 0; i < faults_.size(); ++i) {
    document["faults"][i]["struck"] = faults_[i].struck;
  }
  return document;
}

}  // namespace minisched::apiserver
