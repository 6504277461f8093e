#include "lab/scenario/manifests.h"

#include <boost/algorithm/string/classification.hpp>
#include <boost/algorithm/string/split.hpp>
#include <cstdint>
#include <system_error>
#include <utility>

#include "lab/apiserver/faults/faults.h"
#include "minisched/api/parse_error.h"
#include "minisched/api/quantity.h"
#include "minisched/api/yaml.h"
#include "minisched/client/config_files.h"

namespace minisched::scenario {
namespace {

// Returns the map at `key`, or `otherwise` if `key` is absent.
Json MapOr(const Field& map, const std::string& key, Json otherwise) {
  const auto field = map.Find(key);
  if (!field) return otherwise;
  if (!field->json().is_object()) field->Fail(key + ": expected a map");
  return field->json();
}

// Returns `base` with the quantities of the map at `key` added or replaced.
// Quantities may be written as numbers.
Json AddQuantities(Json base, const Field& map, const std::string& key) {
  const auto field = map.Find(key);
  if (!field) return base;
  const Json quantities = MapOr(map, key, {});
  for (const auto& [resource, quantity] : quantities.items()) {
    base[resource] = (*field)[resource].Scalar();
  }
  return base;
}

// Returns a node's images. `images` maps their names to their sizes.
Json ReadImages(const Field& images) {
  if (!images.json().is_object()) images.Fail("images: expected a map");
  Json list = Json::array();
  for (const auto& [name, unused] : images.json().items()) {
    const Field size = images[name];
    try {
      const Amount bytes = Quantity::Parse(size.Scalar()).Value();
      const auto json = static_cast<std::int64_t>(bytes);
      if (json != bytes) size.Fail(name + ": the size does not fit in 64 bits");
      list.push_back({{"names", {name}}, {"sizeBytes", json}});
    } catch (const ParseError& error) {
      size.Fail(name + ": " + error.what());
    }
  }
  return list;
}

// Converts an object to a Manifest. If the object is no valid manifest, calls
// `fail` with a message; `fail` must throw.
template <class Fail>
Manifest ToManifest(const Json& object, const Fail& fail) {
  const auto string_at = [&](const char* pointer) -> std::string {
    const Json::json_pointer place(pointer);
    const bool is_there = object.contains(place) && object[place].is_string();
    if (!is_there || object[place].get_ref<const std::string&>().empty()) {
      fail("the manifest has no " + place.back());
    }
    return object[place];
  };
  if (!object.is_object()) fail("a manifest must be a map");
  Manifest manifest{.json = object.dump(),
                    .api_version = string_at("/apiVersion"),
                    .kind = string_at("/kind"),
                    .name = string_at("/metadata/name")};
  if (object["metadata"].contains("namespace")) {
    fail(manifest.kind + " " + manifest.name +
         ": leave out metadata.namespace, because each scenario has its own "
         "namespace");
  }
  return manifest;
}

std::vector<Manifest> ReadManifestFile(const Field& field,
                                       const std::filesystem::path& directory) {
  const std::string name = directory / field.String();
  std::error_code error;
  const std::string text = ReadFileOrPipe(name, {}, error);
  if (error) field.Fail(name + ": " + error.message());
  std::vector<Manifest> objects;
  try {
    for (const std::string& document : YamlToJson(text)) {
      objects.push_back(ToManifest(
          Json::parse(document),
          [&](const std::string& what) { field.Fail(name + ": " + what); }));
    }
  } catch (const ParseError& error) {
    field.Fail(name + ": " + error.what());
  }
  if (objects.empty()) field.Fail(name + ": the file has no objects");
  return objects;
}

// Sets the requests of the first container. Fails if `containers` is not a list
// of maps. `item` is the pods' template.
void SetRequests(const Field& item, Json requests, Json& containers) {
  const auto is_map_or_null = [](const Json& json) {
    return json.is_object() || json.is_null();
  };
  const bool is_list = containers.is_array() && !containers.empty();
  if (!is_list || !containers[0].is_object() ||
      !is_map_or_null(containers[0].value("resources", Json()))) {
    item["spec"].Fail(
        "containers: expected a list of maps; \"requests\" changes the first");
  }
  containers[0]["resources"]["requests"] = std::move(requests);
}

// Reads pods of one template: a pod "web" or, with replicas, the pods "web-1",
// "web-2" and so on.
std::vector<Manifest> ReadPodManifests(const Field& item) {
  item.AllowOnly(
      {"pods", "replicas", "labels", "annotations", "requests", "spec"});
  const std::string name = item["pods"].String();
  const auto replicas = item.Find("replicas");
  Json pod = {{"apiVersion", "v1"}, {"kind", "Pod"}};
  pod["metadata"]["labels"] = MapOr(item, "labels", {{"app", name}});
  pod["metadata"]["annotations"] = MapOr(item, "annotations", Json::object());
  pod["spec"] = {{"schedulerName", "minisched"}};
  pod["spec"].update(MapOr(item, "spec", Json::object()));
  if (!pod["spec"].contains("containers")) {
    pod["spec"]["containers"] = {{{"name", "main"}, {"image", "pause"}}};
  }
  if (item.Has("requests")) {
    SetRequests(item, AddQuantities(Json::object(), item, "requests"),
                pod["spec"]["containers"]);
  }
  std::vector<Manifest> pods;
  const int count = replicas ? replicas->Count(1) : 1;
  for (int i = 1; i <= count; ++i) {
    pod["metadata"]["name"] = replicas ? name + "-" + std::to_string(i) : name;
    pods.push_back(
        ToManifest(pod, [&](const std::string& what) { item.Fail(what); }));
  }
  return pods;
}

// Throws CannotPlay with an error message that begins with the path of a value,
// such as "faults[0].match.verbs[1]: …". `from` is the path of `field`.
[[noreturn]] void FailAtPath(const Field& field, const std::string& from,
                             const std::string& message) {
  const std::string path = message.substr(0, message.find(": "));
  Json::json_pointer place;
  if (path.starts_with(from)) {
    std::vector<std::string> parts;
    boost::algorithm::split(parts, path.substr(from.size()),
                            boost::is_any_of(".[]"), boost::token_compress_on);
    for (const std::string& part : parts) {
      if (!part.empty()) place.push_back(part);
    }
  }
  field.FailBelow(place, message);
}

// Returns the names of the nodes of one item: "a" or, with replicas, "a-1",
// "a-2", …
std::vector<std::string> NodeNames(const Field& item) {
  const auto replicas = item.Find("replicas");
  if (!replicas) return item["names"].Strings();
  std::vector<std::string> names;
  const int count = replicas->Count(1);
  for (const std::string& name : item["names"].Strings()) {
    for (int i = 1; i <= count; ++i) {
      names.push_back(name + "-" + std::to_string(i));
    }
  }
  return names;
}

}  // namespace

std::vector<Manifest> ReadManifests(const Field& item,
                                    const std::filesystem::path& directory) {
  const std::string form = item.OneKeyOf({"pods", "file", "kind"});
  if (form == "pods") return ReadPodManifests(item);
  if (form == "kind") {
    return {ToManifest(item.json(),
                       [&](const std::string& what) { item.Fail(what); })};
  }
  item.AllowOnly({"file"});
  return ReadManifestFile(item["file"], directory);
}

std::vector<Manifest> ReadNodeManifests(const Field& item) {
  item.AllowOnly({"names", "replicas", "allocatable", "images", "labels",
                  "taints", "unschedulable"});
  std::vector<Manifest> nodes;
  for (const std::string& name : NodeNames(item)) {
    Json node = {{"apiVersion", "v1"}, {"kind", "Node"}};
    node["metadata"] = {{"name", name},
                        {"labels",
                         {{"kubernetes.io/arch", "amd64"},
                          {"kubernetes.io/hostname", name},
                          {"kubernetes.io/os", "linux"}}}};
    node["metadata"]["labels"].update(MapOr(item, "labels", Json::object()));
    node["spec"] = Json::object();
    if (const auto taints = item.Find("taints")) {
      for (const Field& taint : taints->Items()) {
        taint.AllowOnly({"key", "value", "effect"});
        taint["key"].String();
        taint["effect"].OneOf({"NoSchedule", "PreferNoSchedule", "NoExecute"});
        node["spec"]["taints"].push_back(taint.json());
      }
    }
    if (const auto cordoned = item.Find("unschedulable")) {
      node["spec"]["unschedulable"] = cordoned->Bool();
    }
    node["status"]["allocatable"] =
        AddQuantities({{"cpu", "4"},
                       {"memory", "8Gi"},
                       {"ephemeral-storage", "100Gi"},
                       {"pods", "110"}},
                      item, "allocatable");
    node["status"]["capacity"] = node["status"]["allocatable"];
    if (const auto images = item.Find("images")) {
      node["status"]["images"] = ReadImages(*images);
    }
    nodes.push_back(
        ToManifest(node, [&](const std::string& what) { item.Fail(what); }));
  }
  return nodes;
}

std::string ReadFaultDocument(const Field& field) {
  const bool is_list = field.json().is_array();
  const Json document = is_list ? Json{{"faults", field.json()}} : field.json();
  try {
    apiserver::ParseFaults(document);
  } catch (const ParseError& error) {
    FailAtPath(field, is_list ? "faults" : "", error.what());
  }
  return document.dump();
}

std::string DescribeObjects(const std::vector<Manifest>& objects) {
  const Manifest& first = objects.front();
  const Manifest& last = objects.back();
  const std::string kind = first.kind == "Pod" ? "pod" : first.kind;
  if (objects.size() == 1) return kind + " " + first.name;
  return std::to_string(objects.size()) +
         (first.kind == last.kind ? " " + kind + "s " : " objects ") +
         first.name + " … " + last.name;
}

std::string DescribeObject(const ObjectName& object) {
  if (object.kind == "Pod") return "pods " + object.name;
  return (object.kind == "Node" ? "node" : object.kind) + " " + object.name;
}

}  // namespace minisched::scenario
