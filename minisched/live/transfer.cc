#include "minisched/live/transfer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <span>
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
using std::chrono::milliseconds;

constexpr std::size_t kMaxErrors = 20;
// How long a reset waits for objects to go, and how often it looks.
constexpr std::chrono::seconds kMaxDeletion{30};
constexpr milliseconds kDeletionPoll{100};

// The members of what kube-scheduler-simulator exports, and their kinds.
constexpr std::array<std::pair<const char*, std::string_view>, 7> kSimulator = {
    {{"namespaces", "Namespace"},
     {"priorityClasses", "PriorityClass"},
     {"storageClasses", "StorageClass"},
     {"pvs", "PersistentVolume"},
     {"pvcs", "PersistentVolumeClaim"},
     {"nodes", "Node"},
     {"pods", "Pod"}}};

// What an import or a reset has done.
struct Summary {
  std::map<std::string, int> created;  // by kind
  std::map<std::string, int> skipped;  // by what was skipped
  int deleted = 0;
  std::vector<std::string> errors;

  void Fail(const std::string& name, const char* error) {
    if (errors.size() == kMaxErrors) errors.emplace_back("…");
    if (errors.size() < kMaxErrors) errors.push_back(name + ": " + error);
  }
  Reply ToReply() const {
    const Json summary = {{"created", created},
                          {"skipped", skipped},
                          {"deleted", deleted},
                          {"errors", errors}};
    return {.body = Dump(summary)};
  }
};

// Returns the text at a path such as "/metadata/name", or "".
std::string TextAt(const Json& object, const char* path) {
  const Json* text = nullptr;
  const Json::json_pointer pointer(path);
  if (object.contains(pointer)) text = &object.at(pointer);
  return text != nullptr && text->is_string() ? text->get<std::string>() : "";
}

std::string NameOf(const Json& object) {
  const std::string namespace_name = TextAt(object, "/metadata/namespace");
  return TextAt(object, "/kind") + " " + namespace_name +
         (namespace_name.empty() ? "" : "/") + TextAt(object, "/metadata/name");
}

const ApiResource* FindResource(const std::string& kind) {
  const auto all = ShownResources();
  const auto found = std::ranges::find(all, kind, &ApiResource::kind);
  return found == all.end() ? nullptr : &*found;
}

std::string PathOf(const Json& object, bool of_collection) {
  return FindResource(TextAt(object, "/kind"))
      ->Path(TextAt(object, "/metadata/namespace"),
             of_collection ? "" : TextAt(object, "/metadata/name"));
}

bool IsOfSystem(const Json& object) {
  const std::string kind = TextAt(object, "/kind");
  const std::string name = TextAt(object, "/metadata/name");
  if (kind == "PriorityClass") return name.starts_with("system-");
  if (kind == "Namespace")
    return name == "default" || name.starts_with("kube-");
  return TextAt(object, "/metadata/namespace").starts_with("kube-");
}

// True if the cluster has not made the object by itself.
bool IsExported(const Json& object) {
  const Json owners = object.at("metadata").value("ownerReferences", Json());
  const std::string phase = TextAt(object, "/status/phase");
  return !object.at("metadata").contains("deletionTimestamp") &&
         !std::ranges::any_of(owners,
                              [](const Json& owner) {
                                return owner.value("controller", false);
                              }) &&
         !(TextAt(object, "/kind") == "Pod" &&
           (phase == "Succeeded" || phase == "Failed"));
}

// Copies the members of `from` that are named.
Json Select(const Json& from, std::initializer_list<const char*> names) {
  Json selected = Json::object();
  for (const char* name : names) {
    if (from.contains(name)) selected[name] = from[name];
  }
  return selected;
}

// Returns the object without what a server has added.
Json Clean(Json object) {
  object["metadata"] = Select(object["metadata"],
                              {"name", "namespace", "labels", "annotations"});
  Json status = std::move(object["status"]);
  object.erase("status");
  if (TextAt(object, "/kind") == "Node" && status.is_object()) {
    object["status"] = Select(status, {"capacity", "allocatable", "images"});
  }
  const Json::json_pointer claim("/spec/claimRef");  // of a PersistentVolume
  if (object.contains(claim)) {
    object[claim] = Select(object[claim], {"namespace", "name"});
  }
  return object;
}

// The calls of one transfer. They block, and throw the client's errors.
class Cluster {
 public:
  Cluster(Client& client, std::stop_token stop)
      : client_(client), stop_(std::move(stop)) {}

  // Returns the objects of a kind outside of the system.
  std::vector<Json> List(const ApiResource& resource) {
    std::vector<Json> objects;
    try {
      Json list = Json::parse(Send("GET", resource.Path("")));
      for (Json& object : list["items"]) {
        object["apiVersion"] = resource.ApiVersion();
        object["kind"] = resource.kind;
        if (!IsOfSystem(object)) objects.push_back(std::move(object));
      }
    } catch (const ApiError& error) {
      if (error.code() != 404) throw;  // The server lacks the kind.
    }
    return objects;
  }

  Json ListExported() {
    Json exported = Json::array();
    for (const ApiResource& resource : ShownResources()) {
      for (Json& object : List(resource)) {
        if (IsExported(object)) exported.push_back(Clean(std::move(object)));
      }
    }
    return exported;
  }

  void Create(const Json& object, Summary& summary) {
    try {
      Send("POST", PathOf(object, /*of_collection=*/true), Dump(object));
      ++summary.created[TextAt(object, "/kind")];
    } catch (const ApiError& error) {
      if (error.reason() == "AlreadyExists") {
        ++summary.skipped[TextAt(object, "/kind") + " that exists already"];
      } else {
        summary.Fail(NameOf(object), error.what());
      }
    }
  }

  void Delete(const Json& object, Summary& summary) {
    const Json options = {{"gracePeriodSeconds", 0},
                          {"propagationPolicy", "Background"}};
    try {
      Send("DELETE", PathOf(object, /*of_collection=*/false), Dump(options));
      ++summary.deleted;
    } catch (const ApiError& error) {
      if (error.code() != 404) summary.Fail(NameOf(object), error.what());
    }
  }

  // Makes an object what it was, unless it is.
  void Restore(Json object, const Json& start, Summary& summary) {
    if (Clean(object) == start) return;
    for (const char* name : {"labels", "annotations"}) {
      object["metadata"].erase(name);
    }
    object["metadata"].update(start.at("metadata"));
    for (const auto& [name, value] : start.items()) {
      if (name != "metadata" && name != "status") object[name] = value;
    }
    try {
      Send("PUT", PathOf(object, /*of_collection=*/false), Dump(object));
    } catch (const ApiError& error) {
      summary.Fail(NameOf(object), error.what());
    }
  }

  // Waits until no object of the kind is left.
  void AwaitDeletion(const ApiResource& resource, Summary& summary) {
    const auto deadline = RealClock().Now() + kMaxDeletion;
    while (!List(resource).empty()) {
      if (RealClock().Now() > deadline) {
        return summary.Fail(std::string(resource.plural),
                            "some are still being deleted: reset again");
      }
      if (!RealClock().SleepFor(kDeletionPoll, stop_)) throw Cancelled();
    }
  }

 private:
  std::string Send(const std::string& method, const std::string& path,
                   std::string body = "") {
    return client_.Send(
        {.method = method, .path = path, .body = std::move(body)}, stop_);
  }

  Client& client_;
  const std::stop_token stop_;
};

// Removes and returns a list of objects. Throws ParseError if it is no such
// list.
Json TakeList(Json& document, const char* name) {
  Json list = std::move(document[name]);
  document.erase(name);
  if (list.is_null()) return Json::array();
  if (!list.is_array() || !std::ranges::all_of(list, &Json::is_object)) {
    throw ParseError(Quoted(name) + " must be a list of objects");
  }
  return list;
}

// Adds an object, or the objects of a list, if their kind is known.
void Flatten(Json object, std::vector<Json>& objects, Summary& summary) {
  const std::string kind = TextAt(object, "/kind");
  if (object.contains("items")) {
    const std::string of_items = kind.substr(0, kind.rfind("List"));
    for (Json& item : TakeList(object, "items")) {
      if (TextAt(item, "/kind").empty()) item["kind"] = of_items;
      Flatten(std::move(item), objects, summary);
    }
    return;
  }
  const ApiResource* resource = FindResource(kind);
  if (resource == nullptr) {
    ++summary.skipped[kind.empty() ? "object without a kind" : kind];
  } else if (!object["metadata"].is_object()) {
    summary.Fail(kind, "an object without metadata");
  } else if (IsOfSystem(object)) {
    ++summary.skipped[kind + " of the system"];
  } else {
    object["apiVersion"] = resource->ApiVersion();
    objects.push_back(Clean(std::move(object)));
  }
}

// Adds the objects of a document. Throws ParseError if it has none.
void ReadDocument(Json document, std::vector<Json>& objects, Summary& summary) {
  if (!document.is_object()) throw ParseError("expected an object");
  if (document.contains("kind")) {
    return Flatten(std::move(document), objects, summary);
  }
  for (const auto& [name, kind] : kSimulator) {
    for (Json& object : TakeList(document, name)) {
      object["kind"] = kind;
      Flatten(std::move(object), objects, summary);
    }
  }
  for (const auto& [name, value] : document.items()) ++summary.skipped[name];
}

std::vector<Json> ReadObjects(const std::string& text, Summary& summary) {
  std::vector<Json> objects;
  for (const std::string& document : YamlToJson(text)) {
    ReadDocument(Json::parse(document), objects, summary);
  }
  std::ranges::stable_sort(objects, {}, [](const Json& object) {
    return FindResource(TextAt(object, "/kind"));
  });
  return objects;
}

Reply DoReset(Cluster cluster, const Json& start) {
  Summary summary;
  std::map<std::string, Json> missing;  // by name
  for (const Json& object : start) missing[NameOf(object)] = object;
  const auto all = ShownResources();
  for (auto resource = all.rbegin(); resource != all.rend(); ++resource) {
    for (Json& object : cluster.List(*resource)) {
      const auto at_start = missing.find(NameOf(object));
      if (resource->namespaced || at_start == missing.end()) {
        cluster.Delete(object, summary);
      } else {
        cluster.Restore(std::move(object), at_start->second, summary);
        missing.erase(at_start);
      }
    }
  }
  for (const ApiResource& resource : all) {
    if (resource.namespaced) cluster.AwaitDeletion(resource, summary);
  }
  for (const Json& object : start) {
    if (missing.contains(NameOf(object))) cluster.Create(object, summary);
  }
  return summary.ToReply();
}

}  // namespace

void Transfer::Remember(const std::stop_token& stop) {
  start_ = Cluster(client_, stop).ListExported().dump();
}

void Transfer::Export(Respond respond) {
  Post(
      [this] {
        const Json list = {
            {"apiVersion", "v1"},
            {"kind", "List"},
            {"items", Cluster(client_, stop_.get_token()).ListExported()}};
        return Reply{.content_type = "application/yaml; charset=utf-8",
                     .body = ToYaml(list)};
      },
      std::move(respond));
}

void Transfer::Import(const http::Request& request, Respond respond) {
  Post(
      [this, text = request.body] {
        Summary summary;
        const std::vector<Json> objects = ReadObjects(text, summary);
        Cluster cluster(client_, stop_.get_token());
        for (const Json& object : objects) cluster.Create(object, summary);
        return summary.ToReply();
      },
      std::move(respond));
}

void Transfer::Reset(Respond respond) {
  Post(
      [this] {
        return DoReset(Cluster(client_, stop_.get_token()),
                       Json::parse(start_));
      },
      std::move(respond));
}

void Transfer::Post(std::function<Reply()> work, Respond respond) {
  executor_.Post([work = std::move(work), respond = std::move(respond)] {
    try {
      respond(work());
    } catch (const ParseError& error) {
      respond(YamlErrorReply(error.what()));
    } catch (const ApiError& error) {
      respond(FailureReply(ClientError(error)));
    } catch (const TransportError& error) {
      respond(FailureReply(ClientError(error)));
    } catch (const Cancelled& cancelled) {
      respond(FailureReply(ClientError(cancelled)));
    } catch (const std::exception& error) {
      respond(ErrorReply(500, error.what()));
    }
  });
}

}  // namespace minisched::live
