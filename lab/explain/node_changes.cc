#include "lab/explain/node_changes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "lab/apiserver/object.h"
#include "lab/explain/causes.h"
#include "lab/explain/trial.h"
#include "minisched/api/json.h"

namespace minisched::explain {
namespace {

using apiserver::Dump;
using apiserver::Get;
using apiserver::Json;

constexpr char kHostname[] = "kubernetes.io/hostname";

// Returns what happens to the node when a controller removes the taint, or ""
// if people remove it.
std::string EndOf(const std::string& key, const std::string& node) {
  if (key == "node.kubernetes.io/not-ready" ||
      key == "node.kubernetes.io/unreachable") {
    return node + " becomes Ready";
  }
  if (key == kCordonTaint) return node + " is uncordoned";
  if (key == "node.kubernetes.io/network-unavailable") {
    return "the network of " + node + " becomes available";
  }
  for (const char* resource : {"memory", "disk", "pid"}) {
    if (key == fmt::format("node.kubernetes.io/{}-pressure", resource)) {
      return fmt::format("the {} pressure of {} ends", resource, node);
    }
  }
  if (key == "node.cloudprovider.kubernetes.io/uninitialized") {
    return "the cloud provider initializes " + node;
  }
  if (key == "node.cloudprovider.kubernetes.io/shutdown") {
    return node + " is started again";
  }
  return "";
}

}  // namespace

bool IsOfState(const Taint& taint) {
  return taint.key.starts_with("node.kubernetes.io/") ||
         taint.key.starts_with("node.cloudprovider.kubernetes.io/");
}

Change WithoutTaints(const Node& node, const std::vector<Taint>& taints) {
  const std::string& name = node.metadata.name;
  std::set<std::string> keys;
  std::vector<std::string> texts;
  std::vector<Taint> by_hand;
  for (const Taint& taint : taints) {
    keys.insert(taint.key);
    const std::string text = EndOf(taint.key, name);
    if (text.empty()) {
      by_hand.push_back(taint);
    } else if (std::ranges::find(texts, text) == texts.end()) {
      texts.push_back(text);
    }
  }
  if (!by_hand.empty()) {
    texts.push_back(fmt::format("{} loses the taint {}", name,
                                fmt::join(ToTexts(by_hand), ", ")));
  }
  const std::string text = fmt::format("{}", fmt::join(texts, " and "));
  if (keys == std::set<std::string>{kCordonTaint}) {
    return {text, Dump({{"uncordon", name}})};
  }
  Node changed;
  changed.spec.taints = node.spec.taints;
  std::erase_if(changed.spec.taints, [&](const Taint& taint) {
    return std::ranges::find(taints, taint) != taints.end();
  });
  Json spec = {{"taints", Get(Json::parse(ToJson(changed)), "spec", "taints")}};
  if (keys.contains(kCordonTaint)) spec["unschedulable"] = nullptr;
  return {text,
          Dump({{"patch", {{"node", name}, {"merge", {{"spec", spec}}}}}})};
}

Change OneMoreNode(const Node& like, const NodeStates& nodes) {
  Node node;
  std::string& name = node.metadata.name;
  name = like.metadata.name + "-new";
  while (nodes.contains(name)) name += "-new";
  Labels& labels = node.metadata.labels;
  labels = like.metadata.labels;
  const auto hostname = like.metadata.labels.find(kHostname);
  for (auto& [key, value] : labels) {
    const bool is_name =
        value == like.metadata.name ||
        (hostname != like.metadata.labels.end() && value == hostname->second);
    if (is_name) value = name;
  }
  labels[kHostname] = name;  // the kubelet always sets this label
  node.spec.taints = like.spec.taints;
  std::erase_if(node.spec.taints, IsOfState);
  node.status.capacity = like.status.capacity;
  node.status.allocatable = like.status.allocatable;
  return {"one more node like " + like.metadata.name,
          Dump({{"create", Json::parse(ToJson(node))}})};
}

}  // namespace minisched::explain
