#include "lab/explain/pod_changes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "lab/apiserver/object.h"
#include "lab/explain/amounts.h"
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

constexpr char kRequired[] = "requiredDuringSchedulingIgnoredDuringExecution";

// Returns the steps that replace the pod.
std::string Replace(const Json& pod) {
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
  std::vector<std::string> texts;
  for (const auto& [resource, request, free] : shortages) {
    if (free <= 0) return std::nullopt;
    Lower(pod["spec"]["containers"], resource, request - free);
    texts.push_back(resource + ": " + ToQuantity(resource, free));
  }
  const Resource lowered(PodRequests(FromDocument<Pod>(pod)));
  for (const Shortage& shortage : shortages) {
    if (AmountOf(lowered, shortage.resource) > shortage.free) {
      return std::nullopt;  // an init container, or the pod as a whole
    }
  }
  if (texts.empty()) return std::nullopt;
  return Change{fmt::format("the pod requests {}", fmt::join(texts, ", ")),
                Replace(pod)};
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
                Replace(pod)};
}

}  // namespace minisched::explain
