#include "extender.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "minisched/api/extender.h"
#include "minisched/api/json.h"
#include "minisched/api/parse_error.h"
#include "minisched/base/printable.h"
#include "minisched/client/result.h"
#include "minisched/config/extender_server.h"

namespace minisched {
namespace {

using Json = nlohmann::json;

// The highest score that an extender gives. Scores of plugins go to 100.
constexpr std::int64_t kMaxExtenderPriority = 10;

// Returns an extender's text as a part of one line that is not too long.
std::string Shorten(std::string_view text) {
  constexpr std::size_t kMaxBytes = 1024;
  return Printable(text.substr(0, kMaxBytes));
}

// Returns the names of the nodes with the given index.
std::map<std::string, std::size_t> IndexByName(const Nodes& nodes) {
  std::map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    index[nodes[i]->node().metadata.name] = i;
  }
  return index;
}

// Returns the victims of all candidates as Victims, or as MetaVictims, which
// have only the pods' uids.
Json VictimsOf(const std::vector<Candidate>& candidates, bool as_meta_victims) {
  Json victims = Json::object();
  for (const Candidate& candidate : candidates) {
    Json pods = Json::array();
    for (const PodPtr& pod : candidate.victims) {
      if (as_meta_victims) {
        pods.push_back({{"UID", pod->metadata.uid}});
        continue;
      }
      Json& whole = pods.emplace_back(Json::parse(*pod->whole_json));
      // The pod may be assumed: then the server doesn't know its node yet.
      whole["spec"]["nodeName"] = candidate.node_name;
    }
    victims[candidate.node_name] = {
        {"Pods", std::move(pods)},
        {"NumPDBViolations", candidate.pdb_violations}};
  }
  return victims;
}

PodPtr FindPod(const NodeInfo& node, const std::string& uid) {
  const auto has_uid = [&](const PodInfoPtr& info) {
    return info->pod->metadata.uid == uid;
  };
  const auto found = std::ranges::find_if(node.pods(), has_uid);
  return found == node.pods().end() ? nullptr : (*found)->pod;
}

}  // namespace

Extender::Extender(ExtenderConfig config, std::stop_token stop)
    : config_(std::move(config)),
      stop_(std::move(stop)),
      server_(ExtenderServer(config_)),
      transport_(std::make_unique<Transport>(server_)) {}

bool Extender::IsInterested(const Pod& pod) const {
  const auto& managed = config_.managed_resources;
  const auto has_managed = [&](const ResourceList& resources) {
    return std::ranges::any_of(managed, [&](const auto& resource) {
      return resources.contains(resource.name);
    });
  };
  const auto asks = [&](const Container& container) {
    return has_managed(container.resources.requests) ||
           has_managed(container.resources.limits);
  };
  return managed.empty() || std::ranges::any_of(pod.spec.containers, asks) ||
         std::ranges::any_of(pod.spec.init_containers, asks);
}

tl::expected<Nodes, Status> Extender::Filter(const Pod& pod, const Nodes& nodes,
                                             NodeToStatus& statuses) const {
  const auto answer =
      Call<ExtenderFilterResult>(config_.filter_verb, Arguments(pod, nodes));
  if (!answer) return tl::unexpected(answer.error());
  if (!answer->error.empty()) return Error("says: " + answer->error);
  const auto& allowed = config_.node_cache_capable && answer->node_names
                            ? answer->node_names
                            : answer->nodes;
  const auto index = IndexByName(nodes);
  std::set<std::size_t> left;
  for (const std::string& name : allowed.value_or(std::vector<std::string>())) {
    const auto node = index.find(name);
    if (node == index.end()) {
      return Error(
          fmt::format("claims a filtered node \"{}\" which is not "
                      "found in the input node list",
                      name));
    }
    left.insert(node->second);
  }
  for (const auto& [name, reason] : answer->failed_nodes) {
    statuses.Set(name, {Code::kUnschedulable, Shorten(reason)});
  }
  for (const auto& [name, reason] : answer->failed_and_unresolvable_nodes) {
    statuses.Set(name, {Code::kUnschedulableAndUnresolvable, Shorten(reason)});
  }
  Nodes result;
  for (const std::size_t i : left) result.push_back(nodes[i]);
  return result;
}

tl::expected<PluginNodeScores, Status> Extender::Prioritize(
    const Pod& pod, const Nodes& nodes) const {
  const auto answer =
      Call<HostPriorityList>(config_.prioritize_verb, Arguments(pod, nodes));
  if (!answer) return tl::unexpected(answer.error());
  PluginNodeScores scores{.plugin = Name(), .weight = config_.weight};
  scores.raw.resize(nodes.size());
  const auto index = IndexByName(nodes);
  for (const auto& [host, score] : *answer) {
    if (score < 0 || score > kMaxExtenderPriority) {
      return Error(
          fmt::format("gives node \"{}\" the score {}, which is not "
                      "from 0 to {}",
                      host, score, kMaxExtenderPriority));
    }
    const auto node = index.find(host);
    if (node != index.end()) scores.raw[node->second] = score;
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    scores.normalized.push_back(
        {nodes[i], scores.raw[i] * (kMaxNodeScore / kMaxExtenderPriority)});
  }
  return scores;
}

tl::expected<std::vector<Candidate>, Status> Extender::ProcessPreemption(
    const Pod& pod, const std::vector<Candidate>& candidates,
    const Snapshot& snapshot) const {
  const bool as_meta = config_.node_cache_capable;
  const std::string arguments =
      fmt::format(R"({{"Pod":{},"{}":{}}})", *pod.whole_json,
                  as_meta ? "NodeNameToMetaVictims" : "NodeNameToVictims",
                  VictimsOf(candidates, as_meta).dump());
  auto answer = Call<ExtenderPreemptionResult>(config_.preempt_verb, arguments);
  if (!answer) return tl::unexpected(answer.error());
  std::vector<Candidate> left;
  for (const Candidate& candidate : candidates) {
    const std::string& name = candidate.node_name;
    const auto victims = answer->node_name_to_meta_victims.extract(name);
    if (victims.empty()) continue;
    Candidate& chosen =
        left.emplace_back(Candidate{.node_name = name,
                                    .pdb_violations = static_cast<int>(
                                        victims.mapped().num_pdb_violations)});
    for (const MetaPod& victim : victims.mapped().pods) {
      const PodPtr found = FindPod(*snapshot.Get(name), victim.uid);
      if (!found) {
        return Error(
            fmt::format("claims to preempt pod (UID: {}) on node: {}, "
                        "but the pod is not found on that node",
                        victim.uid, name));
      }
      chosen.victims.push_back(found);
    }
    std::ranges::stable_sort(chosen.victims, MoreImportantPod);
  }
  if (answer->node_name_to_meta_victims.empty()) return left;
  return Error(
      fmt::format("claims to preempt pods on node \"{}\" which is not "
                  "found in the input node list",
                  answer->node_name_to_meta_victims.begin()->first));
}

Task<Status> Extender::Bind(const Pod& pod, const std::string& node_name,
                            std::stop_token stop) const {
  const Json arguments = {{"PodName", pod.metadata.name},
                          {"PodNamespace", pod.metadata.namespace_name},
                          {"PodUID", pod.metadata.uid},
                          {"Node", node_name}};
  const auto request = std::make_shared<const HttpRequest>(
      RequestOf(config_.bind_verb, arguments.dump()));
  const auto send = [&](const Callback<ClientResult<HttpResponse>>& done) {
    transport_->SendAsync(request, stop, done);
  };
  const auto response =
      co_await CallbackResult<ClientResult<HttpResponse>>(send);
  if (!response) co_return Status(Code::kError, response.error().what());
  const auto answer =
      Answer<ExtenderBindingResult>(config_.bind_verb, *response);
  if (!answer) co_return answer.error();
  if (answer->error.empty()) co_return Code::kSuccess;
  co_return Error("says: " + answer->error).value();
}

HttpRequest Extender::RequestOf(const std::string& verb,
                                std::string arguments) const {
  return {.method = "POST",
          .path = "/" + verb,
          .headers = {{"content-type", "application/json"}},
          .body = std::move(arguments)};
}

template <class T>
tl::expected<T, Status> Extender::Call(const std::string& verb,
                                       std::string arguments) const {
  try {
    return Answer<T>(
        verb, transport_->Send(RequestOf(verb, std::move(arguments)), stop_));
  } catch (const TransportError& error) {
    return tl::unexpected(Status(Code::kError, error.what()));
  }
}

template <class T>
tl::expected<T, Status> Extender::Answer(const std::string& verb,
                                         const HttpResponse& response) const {
  if (response.status != 200) {
    return tl::unexpected(
        Status(Code::kError,
               fmt::format("failed {} with extender at URL {}/{}, code {}",
                           verb, server_.server, verb, response.status)));
  }
  try {
    return FromJson<T>(response.body);
  } catch (const ParseError& error) {
    return Error(
        fmt::format("gives a wrong answer to {}: {}", verb, error.what()));
  }
}

std::string Extender::Arguments(const Pod& pod, const Nodes& nodes) const {
  std::vector<std::string_view> texts;
  std::vector<std::string_view> names;
  for (const NodeInfo* node : nodes) {
    if (config_.node_cache_capable) {
      names.push_back(node->node().metadata.name);
    } else {
      texts.push_back(*node->node().whole_json);
    }
  }
  return config_.node_cache_capable
             ? fmt::format(R"({{"Pod":{},"NodeNames":{}}})", *pod.whole_json,
                           Json(names).dump())
             : fmt::format(R"({{"Pod":{},"Nodes":{{"items":[{}]}}}})",
                           *pod.whole_json, fmt::join(texts, ","));
}

tl::unexpected<Status> Extender::Error(const std::string& message) const {
  return tl::unexpected(
      Status(Code::kError,
             fmt::format("extender \"{}\" {}", Name(), Shorten(message))));
}

Extenders NewExtenders(const std::vector<ExtenderConfig>& configs,
                       const std::stop_token& stop) {
  Extenders extenders;
  for (const ExtenderConfig& config : configs) {
    extenders.push_back(std::make_unique<const Extender>(config, stop));
  }
  std::stable_partition(
      extenders.begin(), extenders.end(),
      [](const auto& extender) { return !extender->is_ignorable(); });
  return extenders;
}

}  // namespace minisched
