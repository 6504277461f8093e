#include "lab/live/transfer_work.h"

#include <algorithm>
#include <chrono>

#include "lab/live/exported.h"

namespace minisched::live {
namespace {

constexpr std::size_t kMaxErrors = 20;
// How long a reset waits for objects to go, and how often it looks.
constexpr std::chrono::seconds kMaxDeletion{30};
constexpr std::chrono::milliseconds kDeletionPoll{100};

// True if the object belongs to an export. Schedulers read nothing of a Service
// but its selector.
bool IsExported(const Json& object) {
  const std::string kind = TextAt(object, "/kind");
  if (kind == "Service") {
    return object.contains("/spec/selector"_json_pointer) && !IsEnding(object);
  }
  return !IsEnding(object) && (kind != "PriorityClass" || !IsOfSystem(object));
}

// Returns the objects of a list of the server.
std::vector<Json> ObjectsOf(const ApiResource& resource,
                            const std::string& text) {
  std::vector<Json> objects;
  Json list = Json::parse(text);
  for (Json& object : list["items"]) {
    object["apiVersion"] = resource.ApiVersion();
    object["kind"] = resource.kind;
    objects.push_back(std::move(object));
  }
  return objects;
}

bool HasController(const Json& object) {
  const Json owners = object.at("metadata").value("ownerReferences", Json());
  return std::ranges::any_of(owners, [](const Json& owner) {
    return owner.value("controller", false);
  });
}

// True if the object has something that its creation doesn't give it.
bool NeedsMore(const Json& object) {
  const std::string kind = TextAt(object, "/kind");
  return object["metadata"].contains("ownerReferences") ||
         (object.contains("status") && kind != "Node" &&
          kind != "PodDisruptionBudget");
}

// Returns the title of the object's owner.
std::string OwnerTitle(const Json& object, const Json& owner) {
  Json named = {{"kind", TextAt(owner, "/kind")},
                {"metadata", {{"name", TextAt(owner, "/name")}}}};
  const ApiResource* const resource = FindExported(named);
  if (resource != nullptr && resource->namespaced) {
    named["metadata"]["namespace"] = TextAt(object, "/metadata/namespace");
  }
  return TitleOf(named);
}

std::string PathOf(const Json& object, const std::string& name) {
  return FindExported(object)->Path(TextAt(object, "/metadata/namespace"),
                                    name);
}

}  // namespace

std::string TitleOf(const Json& object) {
  const std::string namespace_name = TextAt(object, "/metadata/namespace");
  return TextAt(object, "/kind") + " " + namespace_name +
         (namespace_name.empty() ? "" : "/") + TextAt(object, "/metadata/name");
}

std::vector<Json> ExportedOf(const std::vector<std::string>& lists) {
  std::vector<Json> exported;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    for (const Json& object : ObjectsOf(ExportedResources()[i], lists[i])) {
      if (IsExported(object)) exported.push_back(Exported(object));
    }
  }
  return exported;
}

void TransferWork::Fail(const std::string& title, const std::string& error) {
  Json& errors = summary_["errors"];
  if (errors.size() == kMaxErrors) errors.push_back("…");
  if (errors.size() < kMaxErrors) errors.push_back(title + ": " + error);
}

std::vector<std::string> TransferWork::GetLists() {
  std::vector<std::string> lists;
  for (const ApiResource& resource : ExportedResources()) {
    lists.push_back(GetList(resource));
  }
  return lists;
}

std::vector<Json> TransferWork::List(const ApiResource& resource) {
  std::vector<Json> objects = ObjectsOf(resource, GetList(resource));
  std::erase_if(objects, [](const Json& object) {
    return IsOfSystem(object) ||
           (TextAt(object, "/kind") == "Service" && !IsExported(object));
  });
  return objects;
}

void TransferWork::CreateAll(const std::vector<Json>& objects) {
  for (const Json& object : objects) {
    const auto created =
        Write("POST", object, NewObject(object), "AlreadyExists");
    if (!created) continue;
    Count("created", TextAt(object, "/kind"));
    uids_[TitleOf(object)] = TextAt(Json::parse(*created), "/metadata/uid");
  }
  std::map<std::string, std::map<std::string, Json>> found;  // by kind, title
  for (const Json& object : objects) {
    if (!uids_.contains(TitleOf(object)) || !NeedsMore(object)) continue;
    const ApiResource& resource = *FindExported(object);
    auto& all = found[std::string(resource.kind)];
    if (all.empty()) {
      for (Json& each : ObjectsOf(resource, GetList(resource))) {
        all.emplace(TitleOf(each), std::move(each));
      }
    }
    const auto now = all.find(TitleOf(object));
    if (now != all.end()) Complete(object, now->second);
  }
}

void TransferWork::Complete(const Json& object, const Json& now) {
  SetOwners(object, now);
  if (object.contains("status")) SetStatus(object, now);
}

void TransferWork::SetOwners(const Json& object, const Json& now) {
  if (HasController(now)) return;
  Json owners = Json::array();
  for (Json owner : object["metadata"].value("ownerReferences", Json())) {
    const auto uid = uids_.find(OwnerTitle(object, owner));
    if (uid == uids_.end()) continue;
    owner["uid"] = uid->second;
    owners.push_back(std::move(owner));
  }
  if (owners.empty()) return;
  Patch(object, "", {{"metadata", {{"ownerReferences", owners}}}});
}

void TransferWork::SetStatus(const Json& object, const Json& now) {
  Json status = object["status"];
  if (status.contains("reservedFor")) {  // of a ResourceClaim
    for (Json& user : status["reservedFor"]) {
      const auto uid = uids_.find(OwnerTitle(
          object, {{"kind", "Pod"}, {"name", TextAt(user, "/name")}}));
      if (uid != uids_.end()) user["uid"] = uid->second;
    }
  }
  const bool is_known =
      TextAt(object, "/spec/nodeName").empty() ||
      TextAt(now, "/status/phase") == TextAt(status, "/phase");
  if (TextAt(object, "/kind") == "Pod" && is_known) {
    if (!status.contains("resourceClaimStatuses")) return;
    status = {{"resourceClaimStatuses", status["resourceClaimStatuses"]}};
  }
  Patch(object, "/status", {{"status", status}});
}

void TransferWork::SetLabels(const Json& object) {
  const Json labels = object["metadata"].value("labels", Json());
  if (labels.empty()) return;
  Patch(object, "", {{"metadata", {{"labels", labels}}}});
}

void TransferWork::Delete(const Json& object) {
  const Json options = {{"gracePeriodSeconds", 0},
                        {"propagationPolicy", "Background"}};
  if (Write("DELETE", object, options, "NotFound")) {
    Count("deleted", TextAt(object, "/kind"));
  }
}

void TransferWork::Restore(Json object, const Json& start) {
  const Json restored = NewObject(start);
  if (NewObject(object) == restored) return;
  object.update(restored);
  Write("PUT", object, object, "");
}

void TransferWork::AwaitDeletion(const ApiResource& resource) {
  const auto deadline = RealClock().Now() + kMaxDeletion;
  while (!List(resource).empty()) {
    if (RealClock().Now() > deadline) {
      return Fail(std::string(resource.plural),
                  "some are still being deleted: reset again");
    }
    if (!RealClock().SleepFor(kDeletionPoll, stop_)) throw Cancelled();
  }
}

std::optional<std::string> TransferWork::Write(const std::string& method,
                                               const Json& object,
                                               const Json& body,
                                               const std::string& needless) {
  const std::string name =
      method == "POST" ? "" : TextAt(object, "/metadata/name");
  try {
    return client_.Send(
        {.method = method, .path = PathOf(object, name), .body = Dump(body)},
        stop_);
  } catch (const ApiError& error) {
    if (error.reason() != needless) Fail(TitleOf(object), error.what());
    if (error.reason() == "AlreadyExists") {
      Skip(TextAt(object, "/kind") + " that exists already");
    }
    return std::nullopt;
  }
}

void TransferWork::Patch(const Json& object, const std::string& subresource,
                         const Json& patch) {
  try {
    client_.Send(
        {.method = "PATCH",
         .path = PathOf(object, TextAt(object, "/metadata/name")) + subresource,
         .content_type = "application/merge-patch+json",
         .body = Dump(patch)},
        stop_);
  } catch (const ApiError& error) {
    Fail(TitleOf(object), error.what());
  }
}

std::string TransferWork::GetList(const ApiResource& resource) {
  try {
    return client_.Send({.method = "GET", .path = resource.Path("")}, stop_);
  } catch (const ApiError& error) {
    if (error.code() == 403) {
      unlisted_.push_back(std::string(resource.plural) + ": " + error.what());
    }
    if (error.code() != 403 && error.code() != 404) throw;
    return R"({"items": []})";
  }
}

void TransferWork::Count(const char* member, const std::string& what) {
  Json& counts = summary_[member];
  counts[what] = counts.value(what, 0) + 1;
}

}  // namespace minisched::live
