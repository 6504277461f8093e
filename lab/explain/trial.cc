#include "lab/explain/trial.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <variant>

#include "lab/apiserver/object.h"
#include "lab/explain/daemon_sets.h"
#include "lab/explain/errors.h"
#include "lab/scenario/errors.h"

namespace minisched::explain {
namespace {

using apiserver::Json;

// Carries out the steps of a trial.
class StepPlayer {
 public:
  StepPlayer(scenario::Cluster& cluster, Copy& copy,
             const Experiment& experiment, const std::stop_token& stop)
      : cluster_(cluster), copy_(copy), experiment_(experiment), stop_(stop) {}

  void operator()(const scenario::Create& create) const {
    const auto& ns = experiment_.pod.namespace_name;
    for (const scenario::Manifest& object : create.objects) {
      if (create.apply) {
        cluster_.Apply(object, ns, experiment_.scheduler_name, stop_);
      } else {
        cluster_.Create(object, ns, experiment_.scheduler_name, stop_);
        if (object.kind == "Node") CreateDaemonPods(object);
      }
    }
  }

  void operator()(const scenario::Patch& patch) const {
    cluster_.Patch(patch, NamespaceOf(patch.object), stop_);
    if (patch.object.kind == "Node" &&
        patch.patch.find("unschedulable") != patch.patch.npos) {
      SetTaint(patch.object);
    }
  }

  void operator()(scenario::Delete deletion) const {
    const auto& objects = deletion.objects;
    if (objects.kind == "Pod" && !deletion.grace_seconds) {
      deletion.grace_seconds = 0;
    }
    const std::string ns = NamespaceOf(objects);
    if (!cluster_.Delete(deletion, ns, stop_).empty()) return;
    throw CannotTell(
        fmt::format("there is no {} {}{}", objects.kind, objects.name,
                    cluster_.IsNamespaced(objects, stop_) ? " in " + ns : ""));
  }

  template <class Other>
  void operator()(const Other&) const {
    throw std::logic_error("ParseSteps() returns no such step");
  }

 private:
  std::string NamespaceOf(const scenario::ObjectName& object) const {
    return object.namespace_name.empty() ? experiment_.pod.namespace_name
                                         : object.namespace_name;
  }

  // Creates the pods that DaemonSets run on a new node, as their controller
  // does.
  void CreateDaemonPods(const scenario::Manifest& node) const {
    for (const Json& pod :
         DaemonPodsFor(Json::parse(node.json), copy_.server())) {
      cluster_.Create({.json = apiserver::Dump(pod),
                       .api_version = "v1",
                       .kind = "Pod",
                       .name = apiserver::NameOf(pod)},
                      apiserver::NamespaceOf(pod), "", stop_);
    }
  }

  // Adds or removes the taint of a cordoned node, as kube-controller-manager
  // does.
  void SetTaint(const scenario::ObjectName& name) const {
    Json node = Json::parse(*cluster_.Get(name, "", stop_));
    Json& taints = node["spec"]["taints"];
    const Json old = apiserver::FindBy(taints, "key", kCordonTaint);
    apiserver::RemoveValue(taints, old);
    if (apiserver::GetBool(node, "spec", "unschedulable")) {
      taints.push_back({{"key", kCordonTaint}, {"effect", "NoSchedule"}});
    }
    cluster_.Patch({.object = name,
                    .type = "merge",
                    .patch = Json{{"spec", {{"taints", taints}}}}.dump()},
                   "", stop_);
  }

  scenario::Cluster& cluster_;
  Copy& copy_;
  const Experiment& experiment_;
  const std::stop_token& stop_;
};

bool IsRefusal(const std::runtime_error& error) {
  const auto* const response = dynamic_cast<const ApiError*>(&error);
  return response != nullptr && response->code() / 100 == 4;
}

RestConfig ConfigOf(const apiserver::Server& server) {
  RestConfig config{.server = server.url(), .source = "the copy"};
  config.qps = 0;
  config.user_agent = "minisched-explain";
  return config;
}

}  // namespace

Copy::Copy(const std::vector<Objects::Manifest>& manifests)
    : server_({.controllers = false}) {
  for (const auto& [json, source] : manifests) {
    for (const std::string& line : server_.Restore(json, source)) {
      const bool matters = line.starts_with(source + ": Pod ") ||
                           line.starts_with(source + ": Node ");
      if (matters) throw CannotTell(line + ": correct the field");
      warnings_.push_back(line);
    }
  }
  thread_ = std::jthread([this] { server_.Run(); });
}

Trial::Trial(const Experiment& experiment,
             const std::vector<scenario::Step>& more,
             const std::stop_token& stop)
    : experiment_(experiment),
      copy_(experiment.objects.manifests),
      cluster_(ConfigOf(copy_.server()), stop) {
  const StepPlayer player(cluster_, copy_, experiment, stop);
  for (const auto* steps : {&experiment.steps, &more}) {
    for (const scenario::Step& step : *steps) {
      try {
        std::visit(player, step.action);
      } catch (const std::runtime_error& error) {
        const auto what = fmt::format("{}: {}", step.text, error.what());
        if (IsRefusal(error)) throw RefusedStep(what);
        throw CannotTell(what);
      }
    }
  }
  const auto& [ns, name] = experiment.pod;
  try {
    pod_ = client().Get<Pod>(ns, name, stop);
  } catch (const ApiError& error) {
    if (error.code() != 404) throw;
    throw CannotTell(experiment.pod.ToString() +
                     " is not there any more after the steps of --what-if");
  }
}

}  // namespace minisched::explain
