#include "lab/explain/volume_changes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <set>

#include "lab/apiserver/object.h"
#include "lab/explain/daemon_sets.h"
#include "lab/explain/pod_changes.h"
#include "minisched/api/document.h"

namespace minisched::explain {

using apiserver::Dump;
using apiserver::Json;

std::optional<Change> WithSimilarClaims(Json pod, const VolumeRules& rules) {
  const Pod typed = FromDocument<Pod>(pod);
  std::vector<std::string> texts;
  for (Json& volume : pod["spec"]["volumes"]) {
    const std::string name =
        apiserver::GetString(volume, "persistentVolumeClaim", "claimName");
    if (name.empty() || rules.objects().ClaimOf(typed, name)) continue;
    const std::string meant = SimilarClaim(typed, name, rules.objects());
    if (meant.empty()) return std::nullopt;
    volume["persistentVolumeClaim"]["claimName"] = meant;
    texts.push_back(fmt::format("{} instead of {}", meant, name));
  }
  if (texts.empty()) return std::nullopt;
  return Change{
      fmt::format("the pod uses the claim {}", fmt::join(texts, " and ")),
      ReplacingSteps(pod)};
}

std::optional<Change> WithBoundClaims(const Pod& pod,
                                      const VolumeRules& rules) {
  std::vector<std::string> texts;
  Json steps = Json::array();
  std::set<std::string> taken;
  for (const Volume& volume : pod.spec.volumes) {
    const auto name = ClaimName(pod, volume);
    const auto* const claim =
        name ? rules.objects().ClaimOf(pod, *name) : nullptr;
    if (claim == nullptr || IsFullyBound(*claim) ||
        rules.objects().IsDelayed(*claim)) {
      continue;
    }
    const auto* const found = FindVolumeFor(*claim, rules.objects(), taken);
    if (found == nullptr) return std::nullopt;
    const std::string& volume_name = found->metadata.name;
    taken.insert(volume_name);
    texts.push_back(fmt::format("the claim {} to {}", *name, volume_name));
    const Json merge = {
        {"metadata",
         {{"annotations", {{"pv.kubernetes.io/bind-completed", "yes"}}}}},
        {"spec", {{"volumeName", volume_name}}}};
    steps.push_back({{"patch",
                      {{"apiVersion", "v1"},
                       {"kind", "PersistentVolumeClaim"},
                       {"name", *name},
                       {"merge", merge}}}});
  }
  if (texts.empty()) return std::nullopt;
  return Change{
      fmt::format("the volume controller binds {}", fmt::join(texts, " and ")),
      Dump(steps.size() == 1 ? steps[0] : steps)};
}

std::optional<Change> WithoutVolumeUser(const Node& node,
                                        const VolumeRules& rules) {
  const auto users = rules.UsersFor(node);
  if (users.empty() || ComesBack(users[0].pod->metadata)) return std::nullopt;
  const ObjectMeta& first = users[0].pod->metadata;
  for (const VolumeUser& user : users) {
    if (user.pod->metadata.uid != first.uid) return std::nullopt;
  }
  return Change{fmt::format("the pod {}, which uses {}, is deleted",
                            ObjectName(first), users[0].what),
                Dump({{"delete",
                       {{"pod", first.name},
                        {"namespace", first.namespace_name},
                        {"grace", 0}}}})};
}

}  // namespace minisched::explain
