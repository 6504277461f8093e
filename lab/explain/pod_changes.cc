#include "lab/explain/pod_changes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "lab/apiserver/object.h"
#include "lab/explain/amounts.h"
#include "lab/explain/requests.h"
#include "minisched/api/document.h"
#include "minisched/api/pod_requests.h"
#include "minisched/api/quantity.h"
#include "minisched/api/resource.h"

namespace minisched::explain {
namespace {

using apiserver::Dump;
using apiserver::Get;
using apiserver::GetString;
using apiserver::Json;
using apiserver::NameOf;

Amount RequestOf(const Json& container, const std::string& resource) {
  const std::string text =
      GetString(container, "resources", "requests", resource);
  return text.empty() ? 0
                      : AmountOf(Resource({{resource, Quantity::Parse(text)}}),
                                 resource);
}

// True if a container's request for the resource must equal its limit.
bool RequiresLimit(const std::string& resource) {
  return resource != "cpu" && resource != "memory" &&
         resource != "ephemeral-storage";
}

// Takes `excess` from the requests of the containers, the largest first.
void Lower(Json& containers, const std::string& resource, Amount excess) {
  std::vector<Json*> order;
  for (Json& container : containers) order.push_back(&container);
  std::ranges::stable_sort(order, std::greater(), [&](const Json* container) {
    return RequestOf(*container, resource);
  });
  for (Json* container : order) {
    const Amount request = RequestOf(*container, resource);
    const Amount less = std::min(request, excess);
    if (less <= 0) continue;
    excess -= less;
    Json& resources = (*container)["resources"];
    resources["requests"][resource] = ToQuantity(resource, request - less);
    if (RequiresLimit(resource)) {
      resources["limits"][resource] = resources["requests"][resource];
    }
  }
}

Amount RequestOfPod(const Json& pod, const std::string& resource) {
  return AmountOf(Resource(PodRequests(FromDocument<Pod>(pod))), resource);
}

// Lowers the requests of the init containers that decide the pod's request,
// until the pod requests at most `most`. Returns the name of the last of them.
std::string LowerInitContainers(Json& pod, const std::string& resource,
                                Amount most) {
  std::string last;
  while (true) {
    const Amount excess = RequestOfPod(pod, resource) - most;
    const auto name = DecidingInitContainer(FromDocument<Pod>(pod), resource);
    if (excess <= 0 || name.empty() || name == last) return last;
    last = name;
    for (Json& container : pod["spec"]["initContainers"]) {
      if (GetString(container, "name") != name) continue;
      Json only = Json::array({container});
      Lower(only, resource, excess);
      container = only[0];
    }
  }
}

// Removes the requirements that are in `unmet` from the only term of the
// required node affinity.
void RemoveRequirements(Json& required,
                        const std::vector<NodeSelectorRequirement>& unmet) {
  Json& term = required["nodeSelectorTerms"][0];
  for (const char* list : {"matchExpressions", "matchFields"}) {
    if (!term.contains(list)) continue;
    auto& requirements = term[list].get_ref<Json::array_t&>();
    std::erase_if(requirements, [&](const Json& one) {
      return std::ranges::any_of(unmet, [&](const auto& requirement) {
        return GetString(one, "key") == requirement.key &&
               GetString(one, "operator") == requirement.op;
      });
    });
    if (requirements.empty()) term.erase(list);
  }
}

}  // namespace

std::string ReplacingSteps(const Json& pod) {
  Json spec = pod["spec"];
  // The server sets these fields from the priority class.
  spec.erase("priority");
  spec.erase("preemptionPolicy");
  const Json created = {
      {"apiVersion", "v1"},
      {"kind", "Pod"},
      {"metadata",
       {{"name", NameOf(pod)}, {"labels", Get(pod, "metadata", "labels")}}},
      {"spec", spec}};
  return Dump({{{"delete", {{"pod", NameOf(pod)}, {"grace", 0}}}},
               {{"create", created}}});
}

Change WithTolerations(const Json& pod, const std::vector<Taint>& taints) {
  Json tolerations = Get(pod, "spec", "tolerations");
  for (const Taint& taint : taints) {
    Json toleration = {{"key", taint.key},
                       {"operator", taint.value.empty() ? "Exists" : "Equal"},
                       {"effect", taint.effect}};
    if (!taint.value.empty()) toleration["value"] = taint.value;
    tolerations.push_back(std::move(toleration));
  }
  return {fmt::format("the pod tolerates {}", fmt::join(ToTexts(taints), ", ")),
          Dump({{"patch",
                 {{"pod", NameOf(pod)},
                  {"merge", {{"spec", {{"tolerations", tolerations}}}}}}}})};
}

std::optional<Change> WithRequests(Json pod,
                                   const std::vector<Shortage>& shortages) {
  std::set<std::string> subjects;
  std::vector<std::string> texts;
  for (const auto& [resource, request, free] : shortages) {
    if (free <= 0) return std::nullopt;
    const std::string init = LowerInitContainers(pod, resource, free);
    const Amount excess = RequestOfPod(pod, resource) - free;
    Lower(pod["spec"]["containers"], resource, excess);
    if (RequestOfPod(pod, resource) > free) return std::nullopt;
    const bool is_init = !init.empty() && excess <= 0;
    subjects.insert(is_init ? "the init container " + init : "the pod");
    texts.push_back(resource + ": " + ToQuantity(resource, free));
  }
  if (texts.empty()) return std::nullopt;
  return Change{
      fmt::format("{} requests {}",
                  subjects.size() == 1 ? *subjects.begin() : "the pod",
                  fmt::join(texts, ", ")),
      ReplacingSteps(pod)};
}

std::optional<Change> WithMilli(Json pod, const NodeState& node) {
  const Pod typed = FromDocument<Pod>(pod);
  std::vector<std::string> texts;
  const auto correct = [&](const std::vector<Container>& containers,
                           Json& json) {
    for (std::size_t i = 0; i < containers.size(); ++i) {
      if (!LacksMilli(containers[i], node)) continue;
      for (const char* list : {"requests", "limits"}) {
        Json& amounts = json[i]["resources"][list];
        if (!amounts.is_object() || !amounts.contains("cpu")) continue;
        const auto amount = Quantity::Parse(GetString(amounts, "cpu"));
        amounts["cpu"] = fmt::format("{}m", amount.Value());
      }
      texts.push_back(GetString(json[i], "resources", "requests", "cpu"));
    }
  };
  Json& spec = pod["spec"];
  correct(typed.spec.containers, spec["containers"]);
  correct(typed.spec.init_containers, spec["initContainers"]);
  if (texts.empty()) return std::nullopt;
  return Change{fmt::format("the pod requests cpu: {}", fmt::join(texts, ", ")),
                ReplacingSteps(pod)};
}

std::optional<Change> WithoutAffinity(Json pod, const Node& node) {
  const Pod typed = FromDocument<Pod>(pod);
  Json& spec = pod["spec"];
  std::vector<std::string> texts;
  for (const auto& [key, value] : UnmatchedLabels(typed, node)) {
    spec["nodeSelector"].erase(key);
    texts.push_back("select " + key + "=" + value);
  }
  if (!MatchesRequiredTerms(typed, node)) {
    const auto& terms =
        typed.spec.affinity.node_affinity.required->node_selector_terms;
    std::vector<NodeSelectorRequirement> unmet;
    if (terms.size() == 1) unmet = UnmetRequirements(terms[0], node);
    Json& affinity = spec["affinity"]["nodeAffinity"];
    if (unmet.empty()) {
      affinity.erase(kRequired);
      texts.emplace_back("require a node affinity");
    } else {
      RemoveRequirements(affinity[kRequired], unmet);
      if (affinity[kRequired]["nodeSelectorTerms"][0].empty()) {
        affinity.erase(kRequired);
      }
      for (const auto& one : unmet) texts.push_back("require " + ToString(one));
    }
  }
  if (texts.empty()) return std::nullopt;
  return Change{fmt::format("the pod does not {}", fmt::join(texts, " and ")),
                ReplacingSteps(pod)};
}

}  // namespace minisched::explain
