#include "lab/explain/new_domains.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "lab/apiserver/object.h"
#include "lab/explain/node_changes.h"

namespace minisched::explain {
namespace {

bool IsValueOf(const std::string& key, const std::string& value,
               const NodeStates& nodes) {
  return std::ranges::any_of(nodes, [&](const auto& node) {
    const std::string* own = LabelOf(node.second.node, key);
    return own != nullptr && *own == value;
  });
}

}  // namespace

std::optional<std::set<std::string>> KeysOfNewDomains(const Rules& rules,
                                                      const Node& node) {
  std::set<std::string> keys;
  if (rules.pods) {
    if (!rules.pods->UnmetAffinity(node).empty()) return std::nullopt;
    keys = rules.pods->RepellingKeys(node);
  }
  if (!rules.spread) return keys;
  for (const SpreadViolation& violation : rules.spread->ViolationsOf(node)) {
    if (violation.lacks_label) return std::nullopt;
    keys.insert(violation.topology_key);
  }
  return keys;
}

Change OneMoreNodeInNewDomains(const Node& like, const NodeStates& nodes,
                               const std::set<std::string>& keys,
                               const Labels& labels) {
  Change change = OneMoreNode(like, nodes);
  apiserver::Json step = apiserver::Json::parse(change.step);
  for (const std::string& key : keys) {
    apiserver::Json& label = step["create"]["metadata"]["labels"][key];
    auto value = label.get<std::string>();
    if (!IsValueOf(key, value, nodes)) continue;  // such as the hostname
    while (IsValueOf(key, value, nodes)) value += "-new";
    label = value;
    change.text += fmt::format(", with {}={}", key, value);
  }
  for (const auto& [key, value] : labels) {
    step["create"]["metadata"]["labels"][key] = value;
    change.text += fmt::format(", with {}={}", key, value);
  }
  change.step = apiserver::Dump(step);
  return change;
}

}  // namespace minisched::explain
