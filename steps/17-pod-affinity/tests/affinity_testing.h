#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "cache/snapshot.h"
#include "minisched/api/namespace.h"
#include "minisched/base/fake_clock.h"
#include "minisched/client/client.h"
#include "minisched/informer/shared_informer_factory.h"
#include "plugins/inter_pod_affinity.h"
#include "testing/scripted_cluster.h"
#include "tests/snapshot_testing.h"
#include "tests/spread_testing.h"

// Helpers for tests of pod affinity. As in spread_testing.h, terms and nodes
// are short texts.

namespace minisched {

// Parses a label selector: "none" (there is none), "all" (an empty one), or
// requirements such as "a=x|y,b!=z,c,!d": a in (x, y), b not in (z), and so on.
inline std::optional<LabelSelector> ParseRequirements(const std::string& text) {
  if (text == "none") return std::nullopt;
  LabelSelector selector;
  if (text == "all") return selector;
  for (const std::string& one : SplitAt(text, ",")) {
    const std::size_t equals = one.find('=');
    if (one.starts_with('!')) {
      selector.match_expressions.push_back({one.substr(1), "DoesNotExist", {}});
    } else if (equals == std::string::npos) {
      selector.match_expressions.push_back({one, "Exists", {}});
    } else {
      const bool is_not = one[equals - 1] == '!';
      selector.match_expressions.push_back(
          {one.substr(0, is_not ? equals - 1 : equals), is_not ? "NotIn" : "In",
           SplitAt(one.substr(equals + 1), "|")});
    }
  }
  return selector;
}

// Parses terms: "zone app=web; node all in=shop,bank of=team=a". The first
// words are the topology key and the selector; "in" are the namespaces, and
// "of" is the selector of namespaces.
inline std::vector<PodAffinityTerm> ParseAffinity(const std::string& text) {
  std::vector<PodAffinityTerm> terms;
  for (const std::string& one : SplitAt(text, ";")) {
    const std::vector<std::string> words = SplitAt(one, " ");
    PodAffinityTerm term;
    term.topology_key = words.at(0);
    term.label_selector = ParseRequirements(words.at(1));
    for (std::size_t i = 2; i < words.size(); ++i) {
      const std::string value = words[i].substr(3);
      if (words[i].starts_with("in=")) term.namespaces = SplitAt(value, ",");
      if (words[i].starts_with("of=")) {
        term.namespace_selector = ParseRequirements(value);
      }
    }
    terms.push_back(std::move(term));
  }
  return terms;
}

struct AffinityPod {
  std::string labels = "";
  std::string affinity = "";
  std::string anti_affinity = "";
  std::string node = "a";
  std::string name_space = "default";
};

inline Pod ToPod(const AffinityPod& parts, const std::string& name) {
  Pod pod;
  pod.metadata.namespace_name = parts.name_space;
  pod.metadata.name = pod.metadata.uid = name;
  pod.metadata.labels = ParseLabels(parts.labels);
  pod.spec.node_name = parts.node;
  pod.spec.affinity.pod_affinity.required = ParseAffinity(parts.affinity);
  pod.spec.affinity.pod_anti_affinity.required =
      ParseAffinity(parts.anti_affinity);
  return pod;
}

// Parses nodes: "a zone=1 rack=x; b zone=2", the names and labels.
inline std::vector<std::shared_ptr<const Node>> ParseNodes(
    const std::string& text) {
  std::vector<std::shared_ptr<const Node>> nodes;
  for (const std::string& one : SplitAt(text, ";")) {
    Node node;
    node.metadata.name = one.substr(0, one.find(' '));
    node.metadata.labels = ParseLabels(one.substr(node.metadata.name.size()));
    nodes.push_back(std::make_shared<const Node>(std::move(node)));
  }
  return nodes;
}

// Informers of a cluster with the namespaces default, a1 and a2 of team a, and
// b1 of team b.
class NamespaceInformers {
 public:
  NamespaceInformers() {
    for (const auto& [name, team] :
         {std::pair("default", ""), {"a1", "a"}, {"a2", "a"}, {"b1", "b"}}) {
      Namespace object;
      object.metadata.name = name;
      object.metadata.resource_version = "1";
      if (*team) object.metadata.labels = {{"team", team}};
      cluster_.Add(object);
    }
    client_ = std::make_unique<Client>(cluster_.config(), clock_);
    informers_ = std::make_unique<SharedInformerFactory>(*client_, clock_);
    informers_->Of<Namespace>();
    informers_->Start(stop_.get_token());
    informers_->WaitForCacheSync({});
  }

  SharedInformerFactory& Get() { return *informers_; }

 private:
  FakeClock clock_;
  ScriptedCluster cluster_{clock_};
  std::unique_ptr<Client> client_;
  std::unique_ptr<SharedInformerFactory> informers_;
  std::stop_source stop_;
};

// Informers for all tests of a process.
inline SharedInformerFactory& TestNamespaces() {
  static NamespaceInformers informers;
  return informers.Get();
}

}  // namespace minisched
