#include "minisched/apiserver/rest.h"

#include <algorithm>
#include <set>
#include <utility>

#include "minisched/apiserver/body.h"
#include "minisched/apiserver/encoding.h"
#include "minisched/apiserver/errors.h"
#include "minisched/apiserver/event_view.h"
#include "minisched/apiserver/list_options.h"
#include "minisched/apiserver/pages.h"
#include "minisched/apiserver/patch.h"
#include "minisched/apiserver/pod_binding.h"
#include "minisched/apiserver/scale.h"
#include "minisched/apiserver/schema.h"
#include "minisched/apiserver/watch.h"

namespace minisched::apiserver {
namespace {

Reply Answer(int status, std::string body, const Encoding& encoding) {
  Reply reply;
  reply.status = status;
  reply.body = std::move(body);
  reply.content_type = encoding.content_type();
  return reply;
}

Json Success(int code, Json details) {
  Json status = {{"kind", "Status"},
                 {"apiVersion", "v1"},
                 {"metadata", Json::object()},
                 {"status", "Success"}};
  if (code != 200) status["code"] = code;
  if (!details.is_null()) status["details"] = std::move(details);
  return status;
}

// The stored form of what came in; what goes out is turned by the Encoding.
Json ToStored(const ResourceRow& row, Json object) {
  return &StorageRow(row) == &row ? std::move(object)
                                  : FromEventsV1(std::move(object));
}

// The object is that of the path, which it need not repeat the namespace of.
void CheckNamespace(Json& object, const RequestInfo& info) {
  const std::string ns = NamespaceOf(object);
  if (!ns.empty() && !info.ns.empty() && ns != info.ns) {
    throw BadRequest(
        "the namespace of the provided object does not match the namespace "
        "sent on the request");
  }
  if (!info.ns.empty()) object["metadata"]["namespace"] = info.ns;
}

void CheckIdentity(Json& object, const RequestInfo& info) {
  const std::string name = NameOf(object);
  if (name.empty()) {
    throw BadRequest("the name of the object (" + info.name +
                     " based on URL) was undeterminable: name must be "
                     "provided");
  }
  if (name != info.name) {
    throw BadRequest("the name of the object (" + name +
                     ") does not match the name on the URL (" + info.name +
                     ")");
  }
  CheckNamespace(object, info);
  const std::string version = GetString(object, "metadata", "resourceVersion");
  if (!version.empty()) ParseVersion(version);
}

// A body that carries a uid is meant for that object only.
void CheckUid(const ResourceRow& row, const Json& object, const Json& old) {
  const std::string uid = UidOf(object);
  if (uid.empty() || uid == UidOf(old)) return;
  throw Conflict(row, NameOf(old),
                 "StorageError: invalid object, Code: 4, Key: /registry/" +
                     row.plural + "/" + NamespaceOf(old) + "/" + NameOf(old) +
                     ", ResourceVersion: 0, AdditionalErrorMsg: Precondition "
                     "failed: UID in precondition: " +
                     uid + ", UID in object meta: " + UidOf(old));
}

// Which kinds answer a delete that took effect with the object, not a Status:
// upstream's ReturnDeletedObject.
bool ReturnsDeletedObject(const ResourceRow& row) {
  static const std::set<std::string_view> kPlurals = {"pods",
                                                      "namespaces",
                                                      "services",
                                                      "serviceaccounts",
                                                      "persistentvolumes",
                                                      "persistentvolumeclaims",
                                                      "storageclasses",
                                                      "csinodes",
                                                      "csidrivers",
                                                      "volumeattachments",
                                                      "resourceclaims",
                                                      "resourceclaimtemplates",
                                                      "resourceslices",
                                                      "replicationcontrollers",
                                                      "deviceclasses"};
  return kPlurals.contains(row.plural);
}

Json ApplyPatch(const Request& request, const Json& object, const Json& patch,
                const SchemaType& type) {
  const auto types = ParseMediaTypes(request.Header("content-type"));
  const std::string kind = types.empty() ? "" : types.front().type;
  if (kind == "application/json-patch+json") {
    return ApplyJsonPatch(object, patch);
  }
  if (kind == "application/merge-patch+json") {
    return ApplyMergePatch(object, patch);
  }
  return ApplyStrategicMergePatch(object, patch, type);
}

void CheckPatchType(const Request& request) {
  const auto types = ParseMediaTypes(request.Header("content-type"));
  const std::string type = types.empty() ? "" : types.front().type;
  for (const char* known :
       {"application/json-patch+json", "application/merge-patch+json",
        "application/strategic-merge-patch+json"}) {
    if (type == known) return;
  }
  if (type == "application/apply-patch+yaml") {
    throw StatusError(415, "UnsupportedMediaType",
                      "server-side apply is not supported by this server: use "
                      "kubectl apply without --server-side");
  }
  throw StatusError(415, "UnsupportedMediaType", "415: Unsupported Media Type");
}

Json ParsePatch(const Request& request) {
  const bool strategic =
      request.Header("content-type").find("strategic") != std::string::npos;
  try {
    return ParseBody(request);
  } catch (const StatusError& error) {
    if (strategic || error.code() != 400) throw;
    throw BadRequest("error decoding patch: " + std::string(error.what()));
  }
}

}  // namespace

Reply Rest::Handle(const Request& request, const RequestInfo& info) {
  using Method = Reply (Rest::*)(const Request&, const RequestInfo&);
  static const std::map<std::string_view, Method> kMethods = {
      {"get", &Rest::Get},       {"list", &Rest::List},
      {"watch", &Rest::Watch},   {"create", &Rest::Create},
      {"update", &Rest::Update}, {"patch", &Rest::Patch},
      {"delete", &Rest::Delete}, {"deletecollection", &Rest::DeleteCollection},
  };
  const std::string& sub = info.subresource;
  const auto& verbs = sub.empty() ? info.row->verbs : GetSubresource(sub).verbs;
  const bool served =
      std::find(verbs.begin(), verbs.end(), info.verb) != verbs.end();
  // What is created has its name in the body, and its namespace in the path;
  // a collection is deleted in one namespace, and the rest wants a name.
  const bool create = info.verb == "create";
  const bool list = info.verb == "list" || info.verb == "watch";
  const bool all = info.verb == "deletecollection";
  const bool misplaced =
      ((create || all) && info.row->namespaced == info.ns.empty()) ||
      (create && sub.empty() != info.name.empty()) ||
      (!create && !list && !all && info.name.empty());
  if (!served || misplaced) {
    throw StatusError(
        405, "MethodNotAllowed",
        "the server does not allow this method on the requested resource",
        Json::object());
  }
  if (info.name.find('%') != info.name.npos) {
    throw BadRequest("Name parameter invalid: " + Json(info.name).dump() +
                     ": may not contain '%'");
  }
  const bool action =
      sub == "binding" || sub == "eviction" || info.row->plural == "bindings";
  if (action) return Act(request, info);
  return (this->*kMethods.at(info.verb))(request, info);
}

Reply Rest::Get(const Request& request, const RequestInfo& info) {
  const auto encoding = Encoding::Negotiate(request);
  if (const auto version = request.Query("resourceVersion"); !version.empty()) {
    ParseVersion(version);
  }
  const Object object = registry_.Get(*info.row, info.ns, info.name);
  if (info.subresource == "scale") {
    return Answer(200, encoding.Document(ScaleOf(*object)), encoding);
  }
  return Answer(200, encoding.Object(*info.row, object, registry_.loop().Now()),
                encoding);
}

Reply Rest::List(const Request& request, const RequestInfo& info) {
  const auto encoding = Encoding::Negotiate(request);
  const auto options =
      ListOptions::Parse(request, *info.row, info.ns, info.name);
  const auto [all, version] =
      Snapshot(registry_.store(), CollectionOf(*info.row), options);
  auto place = options.continue_token.empty()
                   ? all.begin()
                   : all.upper_bound(Page::Parse(options.continue_token).after);
  std::vector<Object> objects;
  Json metadata = {{"resourceVersion", std::to_string(version)}};
  for (; place != all.end(); ++place) {
    if (!options.Matches(*place->second)) continue;
    if (options.limit == 0 ||
        objects.size() < static_cast<std::size_t>(options.limit)) {
      objects.push_back(place->second);
      continue;
    }
    const Json& last = *objects.back();
    metadata["continue"] =
        Page{version, {NamespaceOf(last), NameOf(last)}}.ToToken();
    // Upstream counts what is left only where it is cheap.
    if (request.Query("labelSelector").empty() &&
        request.Query("fieldSelector").empty()) {
      metadata["remainingItemCount"] = std::count_if(
          place, all.end(),
          [&](const auto& entry) { return options.Matches(*entry.second); });
    }
    break;
  }
  return Answer(
      200, encoding.List(*info.row, objects, metadata, registry_.loop().Now()),
      encoding);
}

Reply Rest::Watch(const Request& request, const RequestInfo& info) {
  const auto encoding = Encoding::Negotiate(request);
  auto options = ListOptions::Parse(request, *info.row, info.ns, info.name);
  Reply reply = Answer(200, "", encoding);
  reply.stream = std::make_unique<apiserver::Watch>(
      registry_, *info.row, std::move(options), encoding);
  return reply;
}

Reply Rest::Create(const Request& request, const RequestInfo& info) {
  const ResourceRow& row = *info.row;
  const auto encoding = Encoding::Negotiate(request);
  Reply reply;
  Json object = DecodeObject(request, row.ApiVersion(), row.kind, reply);
  CheckNamespace(object, info);
  const Object created = registry_.Create(
      row, info.ns, ToStored(row, std::move(object)), IsDryRun(request));
  reply.status = 201;
  reply.content_type = encoding.content_type();
  reply.body = encoding.Object(row, created, registry_.loop().Now());
  return reply;
}

Reply Rest::Act(const Request& request, const RequestInfo& info) {
  const auto encoding = Encoding::Negotiate(request);
  Reply reply;
  const bool evict = info.subresource == "eviction";
  Json object = evict ? DecodeObject(request, "policy/v1", "Eviction", reply)
                      : DecodeObject(request, "v1", "Binding", reply);
  CheckNamespace(object, info);
  const std::string name = info.name.empty() ? NameOf(object) : info.name;
  if (name.empty()) throw BadRequest("Name parameter required.");
  if (evict) {
    EvictPod(registry_, info.ns, name, object, IsDryRun(request));
  } else {
    BindPod(registry_, info.ns, name, object, IsDryRun(request));
  }
  reply.status = 201;
  reply.body = encoding.Document(Success(201, nullptr));
  return reply;
}

Reply Rest::Update(const Request& request, const RequestInfo& info) {
  const ResourceRow& row = *info.row;
  const auto encoding = Encoding::Negotiate(request);
  const Time now = registry_.loop().Now();
  const bool dry_run = IsDryRun(request);
  Reply reply;
  reply.content_type = encoding.content_type();
  if (info.subresource == "scale") {
    Json scale = DecodeObject(request, "autoscaling/v1", "Scale", reply);
    CheckIdentity(scale, info);
    const Object scaled = registry_.Update(
        row, "", info.ns, info.name,
        [&](const Json& old) { return WithScale(old, scale); }, dry_run);
    reply.body = encoding.Document(ScaleOf(*scaled));
    return reply;
  }
  Json object = DecodeObject(request, row.ApiVersion(), row.kind, reply);
  CheckIdentity(object, info);
  object = ToStored(row, std::move(object));
  const Object old =
      registry_.store().Find(CollectionOf(row), {info.ns, info.name});
  if (old) CheckUid(row, object, *old);
  const bool create = row.strategy->allow_create_on_update() &&
                      info.subresource.empty() && !old;
  const Object stored =
      create ? registry_.Create(row, info.ns, std::move(object), dry_run)
             : registry_.Update(
                   row, info.subresource, info.ns, info.name,
                   [&](const Json&) { return object; }, dry_run);
  reply.status = create ? 201 : 200;
  reply.body = encoding.Object(row, stored, now);
  return reply;
}

Reply Rest::Patch(const Request& request, const RequestInfo& info) {
  const ResourceRow& row = *info.row;
  CheckPatchType(request);
  const auto encoding = Encoding::Negotiate(request);
  const Json patch = ParsePatch(request);
  const bool scale = info.subresource == "scale";
  const SchemaType& type =
      scale ? *Schema::Get().Find("autoscaling/v1", "Scale")
            : *Schema::Get().Find(row.ApiVersion(), row.kind);
  Reply reply;
  reply.content_type = encoding.content_type();
  const auto change = [&](const Json& old) {
    if (scale) {
      Json patched = ApplyPatch(request, ScaleOf(old), patch, type);
      NormalizePatched(request, patched, type, reply);
      return WithScale(old, patched);
    }
    const bool core = &StorageRow(row) == &row;
    Json patched =
        ApplyPatch(request, core ? old : ToEventsV1(old), patch, type);
    NormalizePatched(request, patched, type, reply);
    CheckIdentity(patched, info);
    return ToStored(row, std::move(patched));
  };
  const Object stored =
      registry_.Update(row, scale ? "" : info.subresource, info.ns, info.name,
                       change, IsDryRun(request));
  reply.body = scale ? encoding.Document(ScaleOf(*stored))
                     : encoding.Object(row, stored, registry_.loop().Now());
  return reply;
}

Reply Rest::Delete(const Request& request, const RequestInfo& info) {
  const ResourceRow& row = *info.row;
  const auto encoding = Encoding::Negotiate(request);
  const Deleted deleted =
      registry_.Delete(row, info.ns, info.name, DecodeDeleteOptions(request));
  if (!deleted.gone || ReturnsDeletedObject(row)) {
    return Answer(200,
                  encoding.Object(row, deleted.object, registry_.loop().Now()),
                  encoding);
  }
  Json details = {{"name", info.name},
                  {"kind", row.plural},
                  {"uid", UidOf(*deleted.object)}};
  if (!row.group.empty()) details["group"] = row.group;
  return Answer(200, encoding.Document(Success(200, std::move(details))),
                encoding);
}

Reply Rest::DeleteCollection(const Request& request, const RequestInfo& info) {
  const ResourceRow& row = *info.row;
  const auto encoding = Encoding::Negotiate(request);
  const auto list_options = ListOptions::Parse(request, row, info.ns, "");
  const DeleteOptions options = DecodeDeleteOptions(request);
  std::vector<Object> objects;
  for (const auto& [key, object] : registry_.store().All(CollectionOf(row))) {
    if (list_options.Matches(*object)) objects.push_back(object);
  }
  for (const Object& object : objects) {
    registry_.Delete(row, NamespaceOf(*object), NameOf(*object), options);
  }
  const Json metadata = {
      {"resourceVersion", std::to_string(registry_.store().version())}};
  return Answer(200,
                encoding.List(row, objects, metadata, registry_.loop().Now()),
                encoding);
}

}  // namespace minisched::apiserver
