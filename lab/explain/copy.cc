#include "lab/explain/copy.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <variant>

#include "lab/apiserver/object.h"
#include "lab/explain/errors.h"
#include "lab/scenario/cluster.h"
#include "lab/scenario/errors.h"

namespace minisched::explain {
namespace {

using apiserver::Json;

const Json kUnschedulableTaint = {{"key", "node.kubernetes.io/unschedulable"},
                                  {"effect", "NoSchedule"}};

// Carries out steps on the copy.
class StepPlayer {
 public:
  StepPlayer(const Copy& copy, std::string namespace_name,
             std::string scheduler_name, std::stop_token stop)
      : cluster_(copy.config(), stop),
        namespace_(std::move(namespace_name)),
        scheduler_name_(std::move(scheduler_name)),
        stop_(std::move(stop)) {}

  void operator()(const scenario::Create& create) {
    for (const scenario::Manifest& object : create.objects) {
      if (create.apply) {
        cluster_.Apply(object, namespace_, scheduler_name_, stop_);
      } else {
        cluster_.Create(object, namespace_, scheduler_name_, stop_);
      }
    }
  }

  void operator()(const scenario::Patch& patch) {
    const std::string ns = NamespaceOf(patch.object);
    cluster_.Patch(patch, ns, stop_);
    if (patch.object.kind == "Node" &&
        patch.patch.find("unschedulable") != patch.patch.npos) {
      SetTaint(patch.object);
    }
  }

  void operator()(scenario::Delete deletion) {
    if (deletion.objects.kind == "Pod" && !deletion.grace_seconds) {
      deletion.grace_seconds = 0;
    }
    const std::string ns = NamespaceOf(deletion.objects);
    if (cluster_.Delete(deletion, ns, stop_).empty()) {
      const bool is_namespaced = cluster_.IsNamespaced(deletion.objects, stop_);
      throw CannotTell(fmt::format("there is no {} {}{}", deletion.objects.kind,
                                   deletion.objects.name,
                                   is_namespaced ? " in " + ns : ""));
    }
  }

  template <class Other>
  void operator()(const Other&) {
    throw std::logic_error("ParseSteps() returns no such step");
  }

 private:
  std::string NamespaceOf(const scenario::ObjectName& object) const {
    return object.namespace_name.empty() ? namespace_ : object.namespace_name;
  }

  // Adds or removes the taint of a cordoned node, as kube-controller-manager
  // does.
  void SetTaint(const scenario::ObjectName& name) {
    const Json node = Json::parse(*cluster_.Get(name, "", stop_));
    Json taints = Json::array();
    for (const Json& taint : apiserver::Get(node, "spec", "taints")) {
      if (apiserver::Get(taint, "key") != kUnschedulableTaint["key"]) {
        taints.push_back(taint);
      }
    }
    if (apiserver::GetBool(node, "spec", "unschedulable")) {
      taints.push_back(kUnschedulableTaint);
    }
    cluster_.Patch({.object = name,
                    .type = "merge",
                    .patch = Json{{"spec", {{"taints", taints}}}}.dump()},
                   "", stop_);
  }

  scenario::Cluster cluster_;
  const std::string namespace_;
  const std::string scheduler_name_;
  const std::stop_token stop_;
};

}  // namespace

Copy::Copy(const std::vector<Objects::Manifest>& manifests)
    : server_({.controllers = false}) {
  for (const Objects::Manifest& manifest : manifests) {
    for (const std::string& line :
         server_.Restore(manifest.json, manifest.source)) {
      const bool matters = line.starts_with(manifest.source + ": Pod ") ||
                           line.starts_with(manifest.source + ": Node ");
      if (matters) throw CannotTell(line + ": correct the field");
      warnings_.push_back(line);
    }
  }
  thread_ = std::jthread([this] { server_.Run(); });
}

Copy::~Copy() { server_.Stop(); }

RestConfig Copy::config() const {
  RestConfig config{.server = server_.url(), .source = "the copy"};
  config.qps = 0;
  config.user_agent = "minisched-explain";
  return config;
}

void Play(const std::vector<scenario::Step>& steps, const Copy& copy,
          const std::string& namespace_name, const std::string& scheduler_name,
          const std::stop_token& stop) {
  if (steps.empty()) return;
  StepPlayer player(copy, namespace_name, scheduler_name, stop);
  for (const scenario::Step& step : steps) {
    try {
      std::visit(player, step.action);
    } catch (const std::runtime_error& error) {
      throw CannotTell(fmt::format("{}: {}", step.text, error.what()));
    }
  }
}

}  // namespace minisched::explain
