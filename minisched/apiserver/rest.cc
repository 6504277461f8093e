#include "minisched/apiserver/rest.h"

#include <algorithm>
#include <utility>

#include "minisched/apiserver/body.h"
#include "minisched/apiserver/encoding.h"
#include "minisched/apiserver/errors.h"
#include "minisched/apiserver/kinds/pod_binding.h"
#include "minisched/apiserver/list_options.h"
#include "minisched/apiserver/pages.h"
#include "minisched/apiserver/patch.h"
#include "minisched/apiserver/schema/schema.h"
#include "minisched/apiserver/views.h"
#include "minisched/apiserver/watch.h"

namespace minisched::apiserver {

struct Rest::Call {
  const Request& request;
  const RequestInfo& info;
  const ResourceRow& row;
  const Encoding encoding;
  Reply reply;
};

namespace {

Json Success(int code, Json details) {
  Json status = {{"kind", "Status"},
                 {"apiVersion", "v1"},
                 {"metadata", Json::object()},
                 {"status", "Success"}};
  if (code != 200) status["code"] = code;
  if (!details.is_null()) status["details"] = std::move(details);
  return status;
}

bool IsScale(const RequestInfo& info) { return info.subresource == "scale"; }

// A scale is written by changing its object itself.
std::string_view SubresourceStored(const RequestInfo& info) {
  return IsScale(info) ? std::string_view() : info.subresource;
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
}

constexpr char kJsonPatch[] = "application/json-patch+json";
constexpr char kMergePatch[] = "application/merge-patch+json";
constexpr char kStrategicPatch[] = "application/strategic-merge-patch+json";

void CheckPatchType(const std::string& type) {
  if (type == "application/apply-patch+yaml") {
    throw StatusError(415, "UnsupportedMediaType",
                      "server-side apply is not supported by this server: use "
                      "kubectl apply without --server-side");
  }
  if (type != kJsonPatch && type != kMergePatch && type != kStrategicPatch) {
    throw StatusError(415, "UnsupportedMediaType",
                      "415: Unsupported Media Type");
  }
}

Json ApplyPatch(const std::string& type, const Json& object, const Json& patch,
                const SchemaType& schema) {
  if (type == kJsonPatch) return ApplyJsonPatch(object, patch);
  if (type == kMergePatch) return ApplyMergePatch(object, patch);
  return ApplyStrategicMergePatch(object, patch, schema);
}

// Throws unless that can be done at that path.
void CheckMethod(const RequestInfo& info) {
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
  if (!served || misplaced) throw MethodNotAllowed();
}

}  // namespace

Reply Rest::Handle(const Request& request, const RequestInfo& info) {
  static const std::map<std::string_view, void (Rest::*)(Call&)> kMethods = {
      {"get", &Rest::Get},       {"list", &Rest::List},
      {"watch", &Rest::Watch},   {"create", &Rest::Create},
      {"update", &Rest::Update}, {"patch", &Rest::Patch},
      {"delete", &Rest::Delete}, {"deletecollection", &Rest::DeleteCollection},
  };
  CheckMethod(info);
  Call call{request, info, *info.row, Encoding::Negotiate(request), {}};
  const bool action = info.subresource == "binding" ||
                      info.subresource == "eviction" ||
                      info.row->plural == "bindings";
  if (action) {
    Act(call);
  } else {
    (this->*kMethods.at(info.verb))(call);
  }
  if (!call.reply.stream) call.reply.body += "\n";  // as Go's encoder does
  return std::move(call.reply);
}

void Rest::Answer(Call& call, const Object& object, int status) {
  call.reply.status = status;
  call.reply.body =
      IsScale(call.info)
          ? Dump(Shown(call.info, *object))
          : call.encoding.Object(call.row, object, registry_.loop().Now());
}

void Rest::AnswerList(Call& call, const std::vector<Object>& objects,
                      const Json& metadata) {
  call.reply.body =
      call.encoding.List(call.row, objects, metadata, registry_.loop().Now());
}

void Rest::Get(Call& call) {
  Answer(call, registry_.Get(call.row, call.info.ns, call.info.name));
}

void Rest::List(Call& call) {
  const auto options =
      ListOptions::Parse(call.request, call.row, call.info.ns, call.info.name);
  const auto [all, version] =
      Snapshot(registry_.store(), CollectionOf(call.row), options);
  auto place = options.continue_token.empty()
                   ? all.begin()
                   : all.upper_bound(Page::Parse(options.continue_token).after);
  const auto matches = [&](const auto& entry) {
    return options.Matches(*entry.second);
  };
  std::vector<Object> objects;
  Json metadata = {{"resourceVersion", std::to_string(version)}};
  const auto limit = static_cast<std::size_t>(options.limit);
  for (; place != all.end(); ++place) {
    if (!matches(*place)) continue;
    if (limit == 0 || objects.size() < limit) {
      objects.push_back(place->second);
      continue;
    }
    const Json& last = *objects.back();
    metadata["continue"] =
        Page{version, {NamespaceOf(last), NameOf(last)}}.ToToken();
    // Upstream counts what is left only where it is cheap.
    if (call.request.Query("labelSelector").empty() &&
        call.request.Query("fieldSelector").empty()) {
      metadata["remainingItemCount"] = std::count_if(place, all.end(), matches);
    }
    break;
  }
  AnswerList(call, objects, metadata);
}

void Rest::Watch(Call& call) {
  auto options =
      ListOptions::Parse(call.request, call.row, call.info.ns, call.info.name);
  call.reply.stream = std::make_unique<apiserver::Watch>(
      registry_, call.row, std::move(options), call.encoding);
}

void Rest::Create(Call& call) {
  Json object = DecodeObject(call.request, RowShown(call.info), call.reply);
  CheckNamespace(object, call.info);
  Answer(call,
         registry_.Create(call.row, call.info.ns,
                          ToStored(call.info, nullptr, std::move(object)),
                          IsDryRun(call.request)),
         201);
}

void Rest::Act(Call& call) {
  const bool evict = call.info.subresource == "eviction";
  static const ResourceRow kEviction{.group = "policy", .kind = "Eviction"};
  Json object =
      DecodeObject(call.request,
                   evict ? kEviction : GetResource("", "bindings"), call.reply);
  CheckNamespace(object, call.info);
  const std::string name =
      call.info.name.empty() ? NameOf(object) : call.info.name;
  if (name.empty()) throw BadRequest("Name parameter required.");
  const bool dry_run = IsDryRun(call.request);
  if (evict) {
    EvictPod(registry_, call.info.ns, name, object, dry_run);
  } else {
    BindPod(registry_, call.info.ns, name, object, dry_run);
  }
  call.reply.status = 201;
  call.reply.body = Dump(Success(201, nullptr));
}

void Rest::Update(Call& call) {
  const RequestInfo& info = call.info;
  const ResourceRow& row = call.row;
  const bool dry_run = IsDryRun(call.request);
  Json sent = DecodeObject(call.request, RowShown(info), call.reply);
  CheckIdentity(sent, info);
  const Object old =
      registry_.store().Find(CollectionOf(row), {info.ns, info.name});
  if (!old && row.strategy->allow_create_on_update() &&
      info.subresource.empty()) {
    return Answer(
        call,
        registry_.Create(row, info.ns, ToStored(info, nullptr, sent), dry_run),
        201);
  }
  // A body that carries a uid is meant for that object only.
  if (old) CheckPreconditions(row, *old, {.uid = UidOf(sent)});
  Answer(call,
         registry_.Update(
             row, SubresourceStored(info), info.ns, info.name,
             [&](const Json& stored) { return ToStored(info, stored, sent); },
             dry_run));
}

void Rest::Patch(Call& call) {
  const RequestInfo& info = call.info;
  const std::string type = call.request.ContentType();
  CheckPatchType(type);
  const Json patch = ParseBody(call.request);
  const SchemaType& schema =
      *Schema::Get().Find(RowShown(info).ApiVersion(), RowShown(info).kind);
  const auto change = [&](const Json& old) {
    Json patched = ApplyPatch(type, Shown(info, old), patch, schema);
    NormalizePatched(call.request, patched, schema, call.reply);
    CheckIdentity(patched, info);
    return ToStored(info, old, std::move(patched));
  };
  Answer(call, registry_.Update(call.row, SubresourceStored(info), info.ns,
                                info.name, change, IsDryRun(call.request)));
}

void Rest::Delete(Call& call) {
  const Deleted deleted =
      registry_.Delete(call.row, call.info.ns, call.info.name,
                       DecodeDeleteOptions(call.request));
  if (!deleted.gone) return Answer(call, deleted.object);
  Json details = {{"name", call.info.name},
                  {"kind", call.row.plural},
                  {"uid", UidOf(*deleted.object)}};
  if (!call.row.group.empty()) details["group"] = call.row.group;
  call.reply.body = Dump(Success(200, std::move(details)));
}

void Rest::DeleteCollection(Call& call) {
  const auto list_options =
      ListOptions::Parse(call.request, call.row, call.info.ns, "");
  const DeleteOptions options = DecodeDeleteOptions(call.request);
  std::vector<Object> objects;
  for (const auto& [key, object] :
       registry_.store().All(CollectionOf(call.row))) {
    if (list_options.Matches(*object)) objects.push_back(object);
  }
  for (const Object& object : objects) {
    registry_.Delete(call.row, NamespaceOf(*object), NameOf(*object), options);
  }
  AnswerList(
      call, objects,
      {{"resourceVersion", std::to_string(registry_.store().version())}});
}

}  // namespace minisched::apiserver
