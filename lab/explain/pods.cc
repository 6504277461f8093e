#include "lab/explain/pods.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "lab/apiserver/object.h"
#include "lab/explain/errors.h"
#include "lab/explain/kept_fields.h"
#include "lab/explain/typing_errors.h"
#include "minisched/api/parse_error.h"
#include "minisched/api/yaml.h"
#include "minisched/client/config_files.h"

namespace minisched::explain {
namespace {

using apiserver::Get;
using apiserver::GetString;
using apiserver::Json;
using apiserver::NameOf;
using apiserver::NamespaceOf;

// Returns how many characters two names have in common, at their beginnings and
// at their ends.
std::ptrdiff_t Likeness(const std::string& a, const std::string& b) {
  return (std::ranges::mismatch(a, b).in1 - a.begin()) +
         (std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend()).first -
          a.rbegin());
}

// Returns the pod whose name is most like `name`: "web" and "eb-7d4b9" find
// "web-7d4b9". Returns "" if no name has half of the characters.
std::string NearestName(const Objects& objects, const std::string& name) {
  const auto likeness = [&name](const auto& pod) {
    return Likeness(name, pod.first.name);
  };
  const auto nearest = std::ranges::max_element(objects.pods(), {}, likeness);
  const bool is_alike = nearest != objects.pods().end() &&
                        2 * likeness(*nearest) >= std::ssize(name);
  return is_alike ? nearest->first.ToString() : "";
}

// Returns "n9, but there is no node n9", or "" if the node exists.
std::string MissingNode(const Objects& objects, const std::string& node) {
  const auto names = objects.NodeNames();
  if (node.empty() || std::ranges::find(names, node) != names.end()) return "";
  std::string text = fmt::format("{0}, but there is no node {0}", node);
  const auto meant = std::ranges::find_if(
      names, [&](const auto& name) { return LooksMistyped(name, node); });
  if (meant != names.end()) text += fmt::format(" (did you mean {}?)", *meant);
  return text;
}

// Returns the pod template of a pod or a workload, or null for other kinds.
Json TemplateOf(const Json& object) {
  if (GetString(object, "kind") == "Pod") return object;
  for (const char* path :
       {"/spec/jobTemplate/spec/template", "/spec/template"}) {
    const Json::json_pointer pointer(path);
    if (object.contains(pointer)) return object[pointer];
  }
  return nullptr;
}

// Adds the volumes that the controller of a StatefulSet adds to its first pod,
// and returns the claims that the controller creates for them.
std::vector<Json> AddClaims(const Json& stateful_set, const std::string& ns,
                            Json& pod) {
  const Json& templates = Get(stateful_set, "spec", "volumeClaimTemplates");
  if (templates.empty() || !Get(pod, "spec").is_object()) return {};
  Json& volumes = pod["spec"]["volumes"];
  if (!volumes.is_array()) volumes = Json::array();
  const auto first =
      apiserver::GetInt(stateful_set, "spec", "ordinals", "start");
  std::vector<Json> claims;
  for (const Json& claim : templates) {
    const std::string name = NameOf(claim);
    const Json replaced = apiserver::FindBy(volumes, "name", name);
    apiserver::RemoveValue(volumes, replaced);
    const std::string object =
        fmt::format("{}-{}-{}", name, NameOf(stateful_set), first);
    volumes.push_back(
        {{"name", name}, {"persistentVolumeClaim", {{"claimName", object}}}});
    claims.push_back({{"apiVersion", "v1"},
                      {"kind", "PersistentVolumeClaim"},
                      {"metadata", {{"name", object}, {"namespace", ns}}},
                      {"spec", Get(claim, "spec")}});
  }
  return claims;
}

// Returns the only pod or workload of a file, or null.
Json ReadOwner(const std::string& file, const std::stop_token& stop,
               const std::function<void(const std::string&)>& fail) {
  const std::string text =
      ReadFileOrPipe(file == "-" ? "/dev/stdin" : file, "--new " + file, stop);
  Json owner;
  try {
    for (const std::string& document : YamlToJson(text)) {
      Json object = Json::parse(document);
      if (TemplateOf(object).is_null()) continue;
      if (!owner.is_null()) fail("it has several pods or workloads: leave one");
      owner = std::move(object);
    }
  } catch (const ParseError& malformed) {
    fail(malformed.what());
  }
  return owner;
}

}  // namespace

NamespacedName ParsePodName(const std::string& pod,
                            const std::string& namespace_name) {
  const auto slash = pod.find('/');
  if (slash == pod.npos) return {namespace_name, pod};
  const NamespacedName name{pod.substr(0, slash), pod.substr(slash + 1)};
  if (!namespace_name.empty() && namespace_name != name.namespace_name) {
    throw CannotTell(fmt::format("{} is not in the namespace {}: leave out -n",
                                 pod, namespace_name));
  }
  return name;
}

std::vector<std::string> NamespacesOf(const Objects& objects,
                                      const std::string& name,
                                      const std::string& namespace_name) {
  std::vector<std::string> namespaces;
  for (const auto& [pod, facts] : objects.pods()) {
    const auto& ns = pod.namespace_name;
    const bool is_searched = namespace_name.empty() || ns == namespace_name;
    if (pod.name == name && is_searched) namespaces.push_back(ns);
  }
  return namespaces;
}

NamespacedName FindPod(const Objects& objects, const std::string& name,
                       const std::string& namespace_name) {
  const auto namespaces = NamespacesOf(objects, name, namespace_name);
  if (namespaces.size() == 1) return {namespaces[0], name};
  if (namespaces.size() > 1) {
    throw CannotTell(fmt::format(
        "several namespaces have a pod {}: pass one of them with -n: {}", name,
        fmt::join(namespaces, ", ")));
  }
  const std::string nearest = NearestName(objects, name);
  throw CannotTell(fmt::format(
      "there is no pod {}{}{}", name,
      namespace_name.empty() ? "" : " in the namespace " + namespace_name,
      nearest.empty() ? "" : "; the nearest name is " + nearest));
}

std::optional<Answer> AnswerWithoutScheduler(const Objects& objects,
                                             const NamespacedName& name,
                                             const PodFacts& pod,
                                             bool has_command) {
  Answer answer{.pod = name.ToString(), .node = pod.node};
  if (pod.HasEnded()) {
    answer.state = State::kEnded;
    answer.sentence = fmt::format("{} has ended ({}): no scheduler takes it",
                                  answer.pod, pod.phase);
  } else if (pod.is_terminating) {
    answer.state = State::kDeleted;
    answer.sentence = answer.pod + " is being deleted: no scheduler takes it";
  } else if (std::string missing = MissingNode(objects, pod.node);
             !missing.empty()) {
    answer.state = State::kNoNode;
    answer.sentence = fmt::format(
        "{} has spec.nodeName {}. No scheduler takes it, and no kubelet runs "
        "it: create it again without spec.nodeName",
        answer.pod, missing);
    answer.node.clear();
  } else if (!pod.node.empty()) {
    answer.state = State::kBound;
    answer.sentence = fmt::format("{} is bound to {}", answer.pod, pod.node);
  } else if (!has_command && pod.scheduler != "default-scheduler" &&
             pod.scheduler != "minisched") {
    answer.state = State::kOtherScheduler;
    answer.sentence = fmt::format(
        "{} is for the scheduler \"{}\": pass its command with --scheduler",
        answer.pod, pod.scheduler);
  } else {
    return std::nullopt;
  }
  return answer;
}

void AddWarnings(const Objects& objects, const Objects::Selection& selection,
                 std::vector<std::string>& warnings) {
  if (selection.nominated > 0) {
    warnings.push_back(fmt::format(
        "pending pods with a nominated node are left out: {}. They may take "
        "their resources first",
        selection.nominated));
  }
  if (!selection.missing.empty()) {
    warnings.push_back(fmt::format(
        "pods that were never on a server need classes that are missing: {}. "
        "The pods have the priority 0 and no overhead",
        fmt::join(selection.missing, ", ")));
  }
  std::vector<std::string> kinds;
  for (const auto& [kind, count] : objects.unknown_kinds()) {
    kinds.push_back(fmt::format("{} {}", count, kind));
  }
  if (!kinds.empty()) {
    warnings.push_back(
        fmt::format("unknown kinds were left out: {}", fmt::join(kinds, ", ")));
  }
}

NewPod ReadNewPod(const std::string& file, const std::string& namespace_name,
                  const std::stop_token& stop) {
  const auto fail = [&](const std::string& what) {
    throw CannotTell("--new " + file + ": " + what);
  };
  const Json owner = ReadOwner(file, stop, fail);
  Json pod = TemplateOf(owner);
  if (!pod.is_object()) fail("it has no pod and no workload");
  std::string ns = namespace_name.empty() ? NamespaceOf(owner) : namespace_name;
  if (ns.empty()) ns = "default";
  std::vector<Json> claims = AddClaims(owner, ns, pod);
  pod["apiVersion"] = "v1";
  pod["kind"] = "Pod";
  KeepFields(pod);
  std::string name = NameOf(owner);
  if (name.empty()) name = GetString(owner, "metadata", "generateName");
  if (name.empty()) fail("the pod has no metadata.name");
  if (name.back() == '-') name += "new";  // a generateName
  Json& metadata = pod["metadata"];
  if (!metadata.is_object()) metadata = Json::object();
  metadata["name"] = name;
  metadata["namespace"] = ns;
  metadata.erase("uid");  // FactsOf() then returns a new pod
  return {{ns, name},
          FactsOf(pod),
          {scenario::Create{.objects = {{.json = pod.dump(),
                                         .api_version = "v1",
                                         .kind = "Pod",
                                         .name = name}}},
           "--new " + file},
          std::move(claims)};
}

}  // namespace minisched::explain
