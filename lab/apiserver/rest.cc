#include "lab/apiserver/rest.h"

#include <fmt/format.h>

#include <boost/range/algorithm/count.hpp>
#include <utility>

#include "lab/apiserver/body.h"
#include "lab/apiserver/encoding.h"
#include "lab/apiserver/errors.h"
#include "lab/apiserver/kinds/pods.h"
#include "lab/apiserver/list_options.h"
#include "lab/apiserver/patch.h"
#include "lab/apiserver/schema/schema.h"
#include "lab/apiserver/views.h"
#include "lab/apiserver/warnings.h"
#include "lab/apiserver/watch.h"

namespace minisched::apiserver {
namespace {

// The start of a page of a list: the version of the whole list, and the key of
// the last object before the page. The JSON text of a Page is the continue
// token in the previous page.
using Page = std::pair<std::uint64_t, Store::Key>;

Page ParseToken(const std::string& token) {
  try {
    return Json::parse(token).get<Page>();
  } catch (const Json::exception&) {
    throw BadRequest(
        "invalid continue token: continue key is not valid: this server did "
        "not issue it");
  }
}

StatusError TooLargeVersion(std::uint64_t requested, std::uint64_t current) {
  return {504,
          "Timeout",
          fmt::format("Timeout: Too large resource version: {}, current: {}",
                      requested, current),
          {{"retryAfterSeconds", 1},
           {"causes",
            {{{"reason", "ResourceVersionTooLarge"},
              {"message", "Too large resource version"}}}}}};
}

// Returns the start of the requested page.
Page PageOf(const ListOptions& options, std::uint64_t current) {
  if (!options.continue_token.empty()) {
    return ParseToken(options.continue_token);
  }
  if (options.resource_version.empty()) return {current, {}};
  const std::uint64_t requested = ParseVersion(options.resource_version, 400);
  if (requested > current) throw TooLargeVersion(requested, current);
  // With a limit and without a resourceVersionMatch, a version above 0 is
  // exact.
  const bool exact = options.resource_version_match == "Exact" ||
                     (options.resource_version_match.empty() &&
                      options.limit > 0 && requested > 0);
  return {exact ? requested : current, {}};
}

// Handles one request and holds its reply.
class Call {
 public:
  Call(Registry& registry, const Request& request, const RequestInfo& info)
      : registry_(registry),
        store_(registry.store()),
        request_(request),
        info_(info),
        row_(*info.row),
        encoding_(Encoding::Negotiate(request)) {}

  Reply Handle() {
    static const std::map<std::string_view, void (Call::*)()> kMethods = {
        {"get", &Call::Get},
        {"list", &Call::List},
        {"watch", &Call::Watch},
        {"create", &Call::Create},
        {"update", &Call::Update},
        {"patch", &Call::Patch},
        {"delete", &Call::Delete},
        {"deletecollection", &Call::DeleteCollection},
    };
    CheckMethod();
    AddWarnings({row_.deprecated}, reply_);
    const bool action = info_.subresource == "binding" ||
                        info_.subresource == "eviction" ||
                        row_.plural == "bindings";
    (this->*(action ? &Call::BindOrEvict : kMethods.at(info_.verb)))();
    if (!reply_.stream) reply_.body += '\n';  // as Go's encoder does
    return std::move(reply_);
  }

 private:
  void Get() { Answer(registry_.Get(row_, info_.ns, info_.name)); }

  void List() {
    const ListOptions options = Options();
    const auto [version, after] = PageOf(options, store_.version());
    const auto all = store_.AllAt(CollectionOf(row_), version);
    if (!all) {
      throw Expired(
          options.continue_token.empty()
              ? "The resourceVersion for the provided list is too old."
              : "The provided continue parameter is too old to display a "
                "consistent list result.");
    }
    const auto matches = [&](const auto& entry) {
      return options.Matches(*entry.second);
    };
    std::vector<Object> objects;
    Json metadata = {{"resourceVersion", std::to_string(version)}};
    const auto limit = static_cast<std::size_t>(options.limit);
    for (auto place = all->upper_bound(after); place != all->end(); ++place) {
      if (!matches(*place)) continue;
      if (limit == 0 || objects.size() < limit) {
        objects.push_back(place->second);
        continue;
      }
      const Json& last = *objects.back();
      metadata["continue"] =
          Dump(Page(version, {NamespaceOf(last), NameOf(last)}));
      // Upstream counts the remaining items only without selectors.
      if (request_.Query("labelSelector").empty() &&
          request_.Query("fieldSelector").empty()) {
        metadata["remainingItemCount"] =
            std::count_if(place, all->end(), matches);
      }
      break;
    }
    AnswerList(objects, metadata);
  }

  void Watch() {
    reply_.stream = std::make_unique<apiserver::Watch>(registry_, row_,
                                                       Options(), encoding_);
  }

  void Create() {
    const bool dry_run = IsDryRun(request_);
    Json object = DecodeObject(request_, ShownRow(info_), reply_);
    SetNamespace(object);
    if (row_.review != nullptr) {
      row_.review(object, registry_.Now());
      return Answer(std::make_shared<const Json>(std::move(object)), 201);
    }
    if (row_.lacks_controller) {
      AddWarnings({"this server only stores " + row_.QualifiedName() +
                   ": no controller makes pods for them"},
                  reply_);
    }
    Answer(
        registry_.Create(row_, info_.ns,
                         ToStored(info_, nullptr, std::move(object)), dry_run),
        201);
  }

  // Handles a POST to pods/NAME/binding, pods/NAME/eviction or bindings. The
  // body is a Binding or an Eviction.
  void BindOrEvict() {
    static const ResourceRow kEviction{.group = "policy", .kind = "Eviction"};
    const bool evict = info_.subresource == "eviction";
    Json object = DecodeObject(
        request_, evict ? kEviction : GetResource("", "bindings"), reply_);
    SetNamespace(object);
    const std::string name = info_.name.empty() ? NameOf(object) : info_.name;
    if (name.empty()) throw BadRequest("Name parameter required.");
    const auto act = evict ? EvictPod : BindPod;
    act(registry_, info_.ns, name, object, IsDryRun(request_));
    AnswerSuccess(201, nullptr);
  }

  void Update() {
    const bool dry_run = IsDryRun(request_);
    Json sent = DecodeObject(request_, ShownRow(info_), reply_);
    CheckIdentity(sent);
    const Object old = store_.Find(CollectionOf(row_), {info_.ns, info_.name});
    if (!old && row_.strategy->allow_create_on_update() &&
        info_.subresource.empty()) {
      return Answer(
          registry_.Create(row_, info_.ns,
                           ToStored(info_, nullptr, std::move(sent)), dry_run),
          201);
    }
    // A body with a uid applies only to the object with that uid.
    if (old) CheckPreconditions(row_, *old, {.uid = UidOf(sent)});
    const auto change = [&](const Json& stored) {
      return ToStored(info_, stored, sent);
    };
    Answer(registry_.Update(row_, WrittenSubresource(info_), info_.ns,
                            info_.name, change, dry_run));
  }

  void Patch() {
    const std::string type = request_.ContentType();
    CheckPatchType(type);
    const Json patch = ParseBody(request_);
    const ResourceRow& shown = ShownRow(info_);
    const SchemaType& schema =
        *Schema::Get().Find(shown.ApiVersion(), shown.kind);
    const auto change = [&](const Json& old) {
      Json patched = ApplyPatch(type, ToShown(info_, old), patch, schema);
      NormalizePatched(request_, patched, shown, reply_);
      CheckIdentity(patched);
      return ToStored(info_, old, std::move(patched));
    };
    Answer(registry_.Update(row_, WrittenSubresource(info_), info_.ns,
                            info_.name, change, IsDryRun(request_)));
  }

  void Delete() {
    const DeleteOptions options = DecodeDeleteOptions(request_);
    const Deleted deleted =
        registry_.Delete(row_, info_.ns, info_.name, options);
    if (!deleted.gone) {
      // As upstream, only clients that send the deprecated option
      // orphanDependents: false get a 202.
      const bool background = options.orphan_dependents == false;
      return Answer(deleted.object, background ? 202 : 200);
    }
    if (row_.returns_deleted) return Answer(deleted.object);
    Json details = {{"name", info_.name},
                    {"kind", row_.plural},
                    {"uid", UidOf(*deleted.object)}};
    if (!row_.group.empty()) details["group"] = row_.group;
    AnswerSuccess(200, details);
  }

  void DeleteCollection() {
    const ListOptions list_options = Options();
    const DeleteOptions options = DecodeDeleteOptions(request_);
    std::vector<Object> objects;
    for (const auto& [key, object] : store_.All(CollectionOf(row_))) {
      if (list_options.Matches(*object)) objects.push_back(object);
    }
    for (const Object& object : objects) {
      registry_.Delete(row_, NamespaceOf(*object), NameOf(*object), options);
    }
    AnswerList(objects,
               {{"resourceVersion", std::to_string(store_.version())}});
  }

  // Throws StatusError (405) unless the path supports the verb.
  void CheckMethod() const {
    const std::string& sub = info_.subresource;
    const auto& verbs = sub.empty() ? row_.verbs : GetSubresource(sub).verbs;
    const bool served = boost::range::count(verbs, info_.verb) > 0;
    // A create has the namespace in the path. It has the name in the path only
    // for a subresource. A collection is deleted in one namespace. The other
    // verbs, except list and watch, need a name.
    const bool create = info_.verb == "create";
    const bool list = info_.verb == "list" || info_.verb == "watch";
    const bool all = info_.verb == "deletecollection";
    const bool misplaced =
        ((create || all) && row_.namespaced == info_.ns.empty()) ||
        (create && sub.empty() != info_.name.empty()) ||
        (!create && !list && !all && info_.name.empty());
    if (!served || misplaced) throw MethodNotAllowed();
  }

  // Sets the namespace of the object to that of the path. Throws StatusError
  // (400) if the object has another namespace. Removes the namespace if the
  // path has none.
  void SetNamespace(Json& object) const {
    if (info_.ns.empty()) {
      object["metadata"].erase("namespace");
      return;
    }
    Json& ns = object["metadata"]["namespace"];
    if (!ns.is_null() && ns != info_.ns) {
      throw BadRequest(
          "the namespace of the provided object does not match the namespace "
          "sent on the request");
    }
    ns = info_.ns;
  }

  // Throws StatusError (400) unless the object has the name in the path. Sets
  // the namespace of the object.
  void CheckIdentity(Json& object) const {
    const std::string name = NameOf(object);
    if (name.empty()) {
      throw BadRequest(fmt::format(
          "the name of the object ({} based on URL) was undeterminable: name "
          "must be provided",
          info_.name));
    }
    if (name != info_.name) {
      throw BadRequest(fmt::format(
          "the name of the object ({}) does not match the name on the URL ({})",
          name, info_.name));
    }
    SetNamespace(object);
  }

  ListOptions Options() const {
    return ListOptions::Parse(request_, row_, info_.ns, info_.name);
  }

  // Answers with the object. If the path ends in "scale", answers with the
  // object's scale.
  void Answer(const Object& object, int status = 200) {
    reply_.status = status;
    reply_.body = ShownRow(info_).kind == row_.kind
                      ? encoding_.Object(row_, object, registry_.loop().Now())
                      : Dump(ToShown(info_, *object));
  }

  void AnswerList(const std::vector<Object>& objects, const Json& metadata) {
    reply_.body =
        encoding_.List(row_, objects, metadata, registry_.loop().Now());
  }

  // Answers with a metav1.Status for success.
  void AnswerSuccess(int status, const Json& details) {
    Json success = {{"kind", "Status"},
                    {"apiVersion", "v1"},
                    {"metadata", Json::object()},
                    {"status", "Success"}};
    if (status != 200) success["code"] = status;
    if (!details.is_null()) success["details"] = details;
    reply_.status = status;
    reply_.body = Dump(success);
  }

  Registry& registry_;
  const Store& store_;
  const Request& request_;
  const RequestInfo& info_;
  const ResourceRow& row_;
  const Encoding encoding_;
  Reply reply_;
};

}  // namespace

Reply ServeResource(Registry& registry, const Request& request,
                    const RequestInfo& info) {
  return Call(registry, request, info).Handle();
}

}  // namespace minisched::apiserver
