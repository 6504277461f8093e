#include "lab/explain/new_pod.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <utility>

#include "lab/apiserver/object.h"
#include "lab/apiserver/resources.h"
#include "lab/explain/daemon_sets.h"
#include "lab/explain/errors.h"
#include "lab/explain/kept_fields.h"
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

std::string NameOfOwner(const Json& owner) {
  const std::string name = NameOf(owner);
  return name.empty() ? GetString(owner, "metadata", "generateName") : name;
}

// Returns "Deployment/web".
std::string TitleOf(const Json& owner) {
  return GetString(owner, "kind") + "/" + NameOfOwner(owner);
}

// Returns true if `name` is a name of the object's kind for kubectl, such as
// "Deployment", "deployments", "deploy" or "deployments.apps".
bool IsNameOfKind(std::string name, const Json& object) {
  const std::string kind = GetString(object, "kind");
  boost::to_lower(name);
  name = name.substr(0, name.find('.'));
  const std::string singular = boost::to_lower_copy(kind);
  if (name == singular || name == singular + "s") return true;
  const auto* const row =
      apiserver::FindKind(GetString(object, "apiVersion"), kind);
  return row != nullptr &&
         std::ranges::find(row->short_names, name) != row->short_names.end();
}

bool IsSelected(const Json& owner, const std::string& selected) {
  const auto slash = selected.find('/');
  const bool has_kind = slash != selected.npos;
  return (!has_kind || IsNameOfKind(selected.substr(0, slash), owner)) &&
         NameOfOwner(owner) ==
             (has_kind ? selected.substr(slash + 1) : selected);
}

// The objects of a file.
class File {
 public:
  File(std::string name, const std::stop_token& stop) : name_(std::move(name)) {
    const std::string text = ReadFileOrPipe(name_ == "-" ? "/dev/stdin" : name_,
                                            "--new " + name_, stop);
    try {
      for (const std::string& document : YamlToJson(text)) {
        Add(Json::parse(document));
      }
    } catch (const ParseError& malformed) {
      Fail(malformed.what());
    }
  }

  // Returns the pod or workload that is selected, or the only one.
  Json Owner(const std::string& selected) const {
    std::vector<Json> found = owners_;
    std::vector<std::string> titles;
    for (const Json& owner : owners_) titles.push_back(TitleOf(owner));
    if (!selected.empty()) {
      std::erase_if(found, [&](const Json& owner) {
        return !IsSelected(owner, selected);
      });
    }
    if (owners_.empty()) Fail("it has no pod and no workload");
    if (found.empty()) {
      Fail(fmt::format("it has no {}: pass one of these: {}", selected,
                       fmt::join(titles, ", ")));
    }
    if (found.size() > 1) {
      Fail(
          fmt::format("it has several pods or workloads: pass one of these: {}",
                      fmt::join(titles, ", ")));
    }
    return found[0];
  }

  // Returns the other objects that schedulers read.
  const std::vector<Json>& others() const { return others_; }

  [[noreturn]] void Fail(const std::string& what) const {
    throw CannotTell("--new " + name_ + ": " + what);
  }

 private:
  void Add(Json object) {
    if (GetString(object, "kind").ends_with("List") &&
        Get(object, "items").is_array()) {
      for (Json& item : object["items"]) Add(std::move(item));
    } else if (!TemplateOf(object).is_null()) {
      owners_.push_back(std::move(object));
    } else if (IsKeptKind(object)) {
      others_.push_back(std::move(object));
    }
  }

  const std::string name_;
  std::vector<Json> owners_;
  std::vector<Json> others_;
};

}  // namespace

NewPod ReadNewPod(const std::string& file, const std::string& selected,
                  const std::string& namespace_name,
                  const std::stop_token& stop) {
  const File objects(file, stop);
  const Json owner = objects.Owner(selected);
  Json pod = TemplateOf(owner);
  if (!pod.is_object()) objects.Fail("it has no pod and no workload");
  std::string ns = namespace_name.empty() ? NamespaceOf(owner) : namespace_name;
  if (ns.empty()) ns = "default";
  std::vector<Json> others = AddClaims(owner, ns, pod);
  for (Json other : objects.others()) {
    if (NamespaceOf(other).empty()) other["metadata"]["namespace"] = ns;
    others.push_back(std::move(other));
  }
  pod["apiVersion"] = "v1";
  pod["kind"] = "Pod";
  KeepFields(pod);
  const bool is_of_daemon_set = GetString(owner, "kind") == "DaemonSet";
  if (is_of_daemon_set && Get(pod, "spec").is_object()) {
    AddDaemonTolerations(pod["spec"]);
  }
  std::string name = NameOfOwner(owner);
  if (name.empty()) objects.Fail("the pod has no metadata.name");
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
          is_of_daemon_set,
          std::move(others)};
}

}  // namespace minisched::explain
