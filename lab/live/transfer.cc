#include "lab/live/transfer.h"

#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "lab/live/access.h"
#include "lab/live/api_proxy.h"
#include "lab/live/exported.h"
#include "lab/live/json.h"
#include "lab/live/transfer_work.h"
#include "minisched/api/document.h"
#include "minisched/api/parse_error.h"
#include "minisched/api/yaml.h"

namespace minisched::live {
namespace {

using http::Reply;

// The members of what kube-scheduler-simulator exports, and their kinds.
constexpr std::array<std::pair<const char*, const char*>, 7> kSimulator = {
    {{"namespaces", "Namespace"},
     {"priorityClasses", "PriorityClass"},
     {"storageClasses", "StorageClass"},
     {"pvs", "PersistentVolume"},
     {"pvcs", "PersistentVolumeClaim"},
     {"nodes", "Node"},
     {"pods", "Pod"}}};

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

// Adds an object, or the objects of a list, if their kind is exported. As with
// kubectl, an object without a namespace is put into "default".
void Flatten(Json object, std::vector<Json>& objects, TransferWork& work) {
  const std::string kind = TextAt(object, "/kind");
  const ApiResource* const resource = FindExported(object);
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
  } else if (!resource->namespaced && IsOfSystem(object)) {
    if (TitleOf(object) == "Namespace default") work.SetLabels(object);
    work.Skip(kind + " of the system");
  } else {
    object["apiVersion"] = resource->ApiVersion();
    if (resource->namespaced && TextAt(object, "/metadata/namespace").empty()) {
      object["metadata"]["namespace"] = "default";
    }
    objects.push_back(Exported(object));
  }
}

// Returns the objects of a text, in the order in which they can be created.
// Throws ParseError.
std::vector<Json> ReadObjects(const std::string& text, TransferWork& work) {
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
  std::ranges::stable_sort(objects, {}, FindExported);
  return objects;
}

void DoReset(TransferWork& work, std::vector<Json> start) {
  std::erase_if(start, IsOfSystem);
  std::map<std::string, const Json*> missing;  // by title
  for (const Json& object : start) missing[TitleOf(object)] = &object;
  const auto all = ExportedResources();
  for (auto resource = all.rbegin(); resource != all.rend(); ++resource) {
    const bool is_shown = std::ranges::any_of(
        ShownResources(),
        [&](const ApiResource& shown) { return shown.kind == resource->kind; });
    for (Json& object : work.List(*resource)) {
      const auto found = missing.find(TitleOf(object));
      if (resource->namespaced || found == missing.end()) {
        work.Delete(object);
        continue;
      }
      if (is_shown) work.Restore(std::move(object), *found->second);
      missing.erase(found);
    }
  }
  for (const ApiResource& resource : all) {
    if (resource.namespaced) work.AwaitDeletion(resource);
  }
  std::erase_if(start, [&missing](const Json& object) {
    return !missing.contains(TitleOf(object));
  });
  work.CreateAll(start);
}

// Returns the comments at the head of an export.
std::string LeftOut(const std::vector<std::string>& unlisted) {
  std::string text =
      "# Left out: Secrets, and all other kinds that schedulers do not read; "
      "objects\n# that are being deleted; pods that have ended.\n";
  for (const std::string& why : unlisted) {
    text += "# Left out: " +
            Json(why).dump(-1, ' ', true, Json::error_handler_t::replace) +
            "\n";
  }
  return text;
}

}  // namespace

void Transfer::Remember(const std::stop_token& stop) {
  start_ = TransferWork(client_, stop).GetLists();
}

void Transfer::Export(Respond respond) {
  Post(
      [this] {
        TransferWork work(client_, stop_.get_token());
        const Json list = {{"apiVersion", "v1"},
                           {"kind", "List"},
                           {"items", ExportedOf(work.GetLists())}};
        return Reply{.content_type = "application/yaml; charset=utf-8",
                     .body = LeftOut(work.unlisted()) + ToYaml(list)};
      },
      std::move(respond));
}

void Transfer::Import(const http::Request& request, Respond respond) {
  Post(
      [this, text = request.body] {
        TransferWork work(client_, stop_.get_token());
        work.CreateAll(ReadObjects(text, work));
        return work.Summary();
      },
      std::move(respond));
}

void Transfer::Reset(Respond respond) {
  Post(
      [this] {
        TransferWork work(client_, stop_.get_token());
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
    } catch (const Json::exception& error) {
      respond(
          ErrorReply(400, std::string("malformed object: ") + error.what()));
    } catch (const std::runtime_error& error) {  // of the client
      respond(ErrorReply(502, error.what()));
    } catch (const Cancelled&) {
      respond(ErrorReply(503, "the program is stopping"));
    }
  });
}

}  // namespace minisched::live
