#include "minisched/live/transfer.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <initializer_list>
#include <map>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "minisched/api/document.h"
#include "minisched/api/parse_error.h"
#include "minisched/api/yaml.h"
#include "minisched/live/access.h"
#include "minisched/live/api_proxy.h"
#include "minisched/live/json.h"

namespace minisched::live {
namespace {

using http::Reply;

constexpr std::size_t kMaxErrors = 20;
// How long a reset waits for objects to go, and how often it looks.
constexpr std::chrono::seconds kMaxDeletion{30};
constexpr std::chrono::milliseconds kDeletionPoll{100};

// The members of what kube-scheduler-simulator exports, and their kinds.
constexpr std::array<std::pair<const char*, const char*>, 7> kSimulator = {
    {{"namespaces", "Namespace"},
     {"priorityClasses", "PriorityClass"},
     {"storageClasses", "StorageClass"},
     {"pvs", "PersistentVolume"},
     {"pvcs", "PersistentVolumeClaim"},
     {"nodes", "Node"},
     {"pods", "Pod"}}};

// Returns "Pod default/web".
std::string TitleOf(const Json& object) {
  const std::string namespace_name = TextAt(object, "/metadata/namespace");
  return TextAt(object, "/kind") + " " + namespace_name +
         (namespace_name.empty() ? "" : "/") + TextAt(object, "/metadata/name");
}

// Returns null for a kind that the page doesn't show.
const ApiResource* FindResource(const Json& object) {
  const auto all = ShownResources();
  const auto found =
      std::ranges::find(all, TextAt(object, "/kind"), &ApiResource::kind);
  return found == all.end() ? nullptr : &*found;
}

// True unless the cluster has made the object by itself, or it ends.
bool IsExported(const Json& object) {
  const Json owners = object.at("metadata").value("ownerReferences", Json());
  const auto controls = [](const Json& owner) {
    return owner.value("controller", false);
  };
  return !IsEnding(object) && std::ranges::none_of(owners, controls);
}

// Returns the objects of a list of the server that are outside of the system.
std::vector<Json> ObjectsOf(const ApiResource& resource,
                            const std::string& text) {
  std::vector<Json> objects;
  Json list = Json::parse(text);
  for (Json& object : list["items"]) {
    object["apiVersion"] = resource.ApiVersion();
    object["kind"] = resource.kind;
    if (!IsOfSystem(object)) objects.push_back(std::move(object));
  }
  return objects;
}

// Returns the exported objects of the lists of all kinds.
Json ExportedOf(const std::vector<std::string>& lists) {
  Json exported = Json::array();
  for (std::size_t i = 0; i < lists.size(); ++i) {
    for (Json& object : ObjectsOf(ShownResources()[i], lists[i])) {
      if (IsExported(object)) exported.push_back(Exported(std::move(object)));
    }
  }
  return exported;
}

// Copies the members of `from` that are named.
Json Select(const Json& from, std::initializer_list<const char*> names) {
  Json selected = Json::object();
  for (const char* name : names) {
    if (from.contains(name)) selected[name] = from[name];
  }
  return selected;
}

// The calls of one transfer, and a summary of what they have done. The calls
// block, and throw the client's errors, except for refused writes, which become
// errors of the summary.
class Work {
 public:
  Work(Client& client, std::stop_token stop)
      : client_(client), stop_(std::move(stop)) {}

  Reply Summary() const { return {.body = Dump(summary_)}; }
  void Skip(const std::string& what) { Count("skipped", what); }
  void Fail(const std::string& title, const std::string& error) {
    Json& errors = summary_["errors"];
    if (errors.size() == kMaxErrors) errors.push_back("…");
    if (errors.size() < kMaxErrors) errors.push_back(title + ": " + error);
  }

  // Returns the list of each kind, in the order of ShownResources().
  std::vector<std::string> GetLists() {
    std::vector<std::string> lists;
    for (const ApiResource& resource : ShownResources()) {
      lists.push_back(GetList(resource));
    }
    return lists;
  }

  // Returns the objects of a kind outside of the system.
  std::vector<Json> List(const ApiResource& resource) {
    return ObjectsOf(resource, GetList(resource));
  }

  void Create(const Json& object) {
    if (Write("POST", object, object, "AlreadyExists")) {
      Count("created", TextAt(object, "/kind"));
    }
  }

  void Delete(const Json& object) {
    const Json options = {{"gracePeriodSeconds", 0},
                          {"propagationPolicy", "Background"}};
    if (Write("DELETE", object, options, "NotFound")) {
      Count("deleted", TextAt(object, "/kind"));
    }
  }

  // Gives an object its spec, labels and annotations of the start again. The
  // new metadata have no resourceVersion, so the write can't fail because of a
  // change since the list, such as the status that a kubelet reports. All kinds
  // without a namespace allow this. REQUIRES: the kind has no namespace.
  void Restore(Json object, const Json& start) {
    if (Exported(object) == start) return;
    object.update(start);
    Write("PUT", object, object, "");
  }

  // Waits until no object of the kind is left.
  void AwaitDeletion(const ApiResource& resource) {
    const auto deadline = RealClock().Now() + kMaxDeletion;
    while (!List(resource).empty()) {
      if (RealClock().Now() > deadline) {
        return Fail(std::string(resource.plural),
                    "some are still being deleted: reset again");
      }
      if (!RealClock().SleepFor(kDeletionPoll, stop_)) throw Cancelled();
    }
  }

 private:
  void Count(const char* member, const std::string& what) {
    Json& counts = summary_[member];
    counts[what] = counts.value(what, 0) + 1;
  }

  // Sends a write about an object. Returns false if the server refuses it, for
  // the reason that only makes it needless, or for another one.
  bool Write(const std::string& method, const Json& object, const Json& body,
             const std::string& needless) {
    const std::string name =
        method == "POST" ? "" : TextAt(object, "/metadata/name");
    try {
      client_.Send({.method = method,
                    .path = FindResource(object)->Path(
                        TextAt(object, "/metadata/namespace"), name),
                    .body = Dump(body)},
                   stop_);
      return true;
    } catch (const ApiError& error) {
      if (error.reason() != needless) Fail(TitleOf(object), error.what());
      if (error.reason() == "AlreadyExists") {
        Skip(TextAt(object, "/kind") + " that exists already");
      }
      return false;
    }
  }

  std::string GetList(const ApiResource& resource) {
    return client_.Send({.method = "GET", .path = resource.Path("")}, stop_);
  }

  Client& client_;
  const std::stop_token stop_;
  Json summary_ = {{"created", Json::object()},
                   {"skipped", Json::object()},
                   {"deleted", Json::object()},
                   {"errors", Json::array()}};
};

// Removes and returns a list of objects. Throws ParseError if it is another
// value.
Json TakeList(Json& document, const char* name) {
  Json list = std::move(document[name]);
  document.erase(name);
  if (list.is_null()) return Json::array();
  if (!list.is_array() || !std::ranges::all_of(list, &Json::is_object)) {
    throw ParseError(Quoted(name) + " must be a list of objects");
  }
  return list;
}

// Adds an object, or the objects of a list, if their kind is shown. As with
// kubectl, an object without a namespace is put into "default".
void Flatten(Json object, std::vector<Json>& objects, Work& work) {
  const std::string kind = TextAt(object, "/kind");
  const ApiResource* const resource = FindResource(object);
  if (object.contains("items")) {
    const std::string kind_of_items = kind.substr(0, kind.rfind("List"));
    for (Json& item : TakeList(object, "items")) {
      if (TextAt(item, "/kind").empty()) item["kind"] = kind_of_items;
      Flatten(std::move(item), objects, work);
    }
  } else if (resource == nullptr) {
    work.Skip(kind.empty() ? "object without a kind" : kind);
  } else if (TextAt(object, "/metadata/name").empty()) {
    work.Fail(kind, "an object without metadata.name");
  } else if (IsOfSystem(object)) {
    work.Skip(kind + " of the system");
  } else {
    object["apiVersion"] = resource->ApiVersion();
    if (resource->namespaced && TextAt(object, "/metadata/namespace").empty()) {
      object["metadata"]["namespace"] = "default";
    }
    objects.push_back(Exported(std::move(object)));
  }
}

// Returns the objects of a text, in the order in which they can be created.
// Throws ParseError.
std::vector<Json> ReadObjects(const std::string& text, Work& work) {
  std::vector<Json> objects;
  for (const std::string& json : YamlToJson(text)) {
    Json document = Json::parse(json);
    if (!document.is_object()) throw ParseError("expected an object");
    if (document.contains("kind")) {
      Flatten(std::move(document), objects, work);
      continue;
    }
    for (const auto& [name, kind] : kSimulator) {
      for (Json& object : TakeList(document, name)) {
        object["kind"] = kind;
        Flatten(std::move(object), objects, work);
      }
    }
    for (const auto& [name, value] : document.items()) work.Skip(name);
  }
  std::ranges::stable_sort(objects, {}, FindResource);
  return objects;
}

void DoReset(Work& work, const Json& start) {
  std::map<std::string, const Json*> missing;  // by title
  for (const Json& object : start) missing[TitleOf(object)] = &object;
  const auto all = ShownResources();
  for (auto resource = all.rbegin(); resource != all.rend(); ++resource) {
    for (Json& object : work.List(*resource)) {
      const auto found = missing.find(TitleOf(object));
      if (resource->namespaced || found == missing.end()) {
        work.Delete(object);
      } else {
        work.Restore(std::move(object), *found->second);
        missing.erase(found);
      }
    }
  }
  for (const ApiResource& resource : all) {
    if (resource.namespaced) work.AwaitDeletion(resource);
  }
  for (const Json& object : start) {
    if (missing.contains(TitleOf(object))) work.Create(object);
  }
}

}  // namespace

bool IsOfSystem(const Json& object) {
  const std::string kind = TextAt(object, "/kind");
  const std::string name = TextAt(object, "/metadata/name");
  if (kind == "PriorityClass") return name.starts_with("system-");
  if (kind != "Namespace") {
    return TextAt(object, "/metadata/namespace").starts_with("kube-");
  }
  return name == "default" || name.starts_with("kube-");
}

bool IsEnding(const Json& object) {
  const std::string phase = TextAt(object, "/status/phase");
  const bool ended = phase == "Succeeded" || phase == "Failed";
  return object.contains("/metadata/deletionTimestamp"_json_pointer) ||
         (ended && TextAt(object, "/kind") == "Pod");
}

Json Exported(Json object) {
  object["metadata"] = Select(object["metadata"],
                              {"name", "namespace", "labels", "annotations"});
  const Json status = std::move(object["status"]);
  object.erase("status");
  if (object["kind"] == "Node" && status.is_object()) {
    object["status"] = Select(status, {"capacity", "allocatable", "images"});
  }
  const Json::json_pointer claim("/spec/claimRef");  // of a PersistentVolume
  if (object.contains(claim)) {
    object[claim] = Select(object[claim], {"namespace", "name"});
  }
  return object;
}

void Transfer::Remember(const std::stop_token& stop) {
  start_ = Work(client_, stop).GetLists();
}

void Transfer::Export(Respond respond) {
  Post(
      [this] {
        const Json list = {
            {"apiVersion", "v1"},
            {"kind", "List"},
            {"items", ExportedOf(Work(client_, stop_.get_token()).GetLists())}};
        return Reply{.content_type = "application/yaml; charset=utf-8",
                     .body = ToYaml(list)};
      },
      std::move(respond));
}

void Transfer::Import(const http::Request& request, Respond respond) {
  Post(
      [this, text = request.body] {
        Work work(client_, stop_.get_token());
        for (const Json& object : ReadObjects(text, work)) work.Create(object);
        return work.Summary();
      },
      std::move(respond));
}

void Transfer::Reset(Respond respond) {
  Post(
      [this] {
        Work work(client_, stop_.get_token());
        DoReset(work, ExportedOf(start_));
        return work.Summary();
      },
      std::move(respond));
}

void Transfer::Post(std::function<Reply()> work, Respond respond) {
  executor_.Post([work = std::move(work), respond = std::move(respond)] {
    try {
      respond(work());
    } catch (const ParseError& error) {
      respond(YamlErrorReply(error.what()));
    } catch (const std::runtime_error& error) {  // of the client
      respond(ErrorReply(502, error.what()));
    } catch (const Cancelled&) {
      respond(ErrorReply(503, "the program is stopping"));
    }
  });
}

}  // namespace minisched::live
