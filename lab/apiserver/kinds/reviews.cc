#include "lab/apiserver/kinds/reviews.h"

#include "lab/apiserver/errors.h"
#include "lab/apiserver/resources.h"

namespace minisched::apiserver {
namespace {

// Upstream's errors about these reviews name only the group.
const ResourceRow kAuthorization{.group = "authorization.k8s.io"};

void ValidateAttributes(const Json& spec, FieldErrors& errors) {
  const Json& resource = Get(spec, "resourceAttributes");
  const Json& other = Get(spec, "nonResourceAttributes");
  if (resource.is_null() == other.is_null()) {
    errors.Invalid("spec", other,
                   "exactly one of nonResourceAttributes or resourceAttributes "
                   "must be specified");
  }
}

void ValidateSubject(const Json& spec, FieldErrors& errors) {
  if (GetString(spec, "user").empty() && Get(spec, "groups").empty()) {
    errors.Invalid("spec.user", "",
                   "at least one of user or group must be specified");
  }
}

// Returns the metadata without the managedFields, which clients may set.
Json MetadataOf(const Json& review) {
  Json metadata = Get(review, "metadata");
  if (metadata.is_object()) metadata.erase("managedFields");
  return metadata;
}

void ValidateNoMetadata(const Json& review, FieldErrors& errors) {
  const Json metadata = MetadataOf(review);
  if (!metadata.empty()) {
    errors.Invalid("metadata", metadata, "must be empty");
  }
}

void ValidateLocal(const Json& review, FieldErrors& errors) {
  Json metadata = MetadataOf(review);
  const std::string ns = NamespaceOf(review);
  metadata.erase("namespace");
  if (!metadata.empty()) {
    errors.Invalid("metadata", Get(review, "metadata"),
                   "must be empty except for namespace");
  }
  const Json& resource = Get(review, "spec", "resourceAttributes");
  const std::string requested = GetString(resource, "namespace");
  if (!resource.is_null() && requested != ns) {
    errors.Invalid("spec.resourceAttributes.namespace", requested,
                   "must match metadata.namespace");
  }
  const Json& other = Get(review, "spec", "nonResourceAttributes");
  if (!other.is_null()) {
    errors.Invalid("spec.nonResourceAttributes", other,
                   "disallowed on this kind of request");
  }
}

void Allow(Json& review, const FieldErrors& errors) {
  errors.ThrowIfAny(kAuthorization, "");
  review["status"] = {{"allowed", true}};
}

}  // namespace

void ReviewSelfAccess(Json& review, const std::string& /*now*/) {
  FieldErrors errors;
  ValidateAttributes(Get(review, "spec"), errors);
  ValidateNoMetadata(review, errors);
  Allow(review, errors);
}

void ReviewAccess(Json& review, const std::string& /*now*/) {
  FieldErrors errors;
  ValidateAttributes(Get(review, "spec"), errors);
  ValidateSubject(Get(review, "spec"), errors);
  ValidateNoMetadata(review, errors);
  Allow(review, errors);
}

void ReviewLocalAccess(Json& review, const std::string& /*now*/) {
  FieldErrors errors;
  ValidateAttributes(Get(review, "spec"), errors);
  ValidateSubject(Get(review, "spec"), errors);
  ValidateLocal(review, errors);
  Allow(review, errors);
}

void ReviewSelfRules(Json& review, const std::string& /*now*/) {
  if (GetString(review, "spec", "namespace").empty()) {
    throw BadRequest("no namespace on request");
  }
  const Json all = Json::array({"*"});
  review["metadata"] = Json::object();
  review["spec"] = Json::object();
  review["status"] = {
      {"resourceRules",
       {{{"verbs", all}, {"apiGroups", all}, {"resources", all}}}},
      {"nonResourceRules", {{{"verbs", all}, {"nonResourceURLs", all}}}},
      {"incomplete", false}};
}

void ReviewSelf(Json& review, const std::string& now) {
  review["metadata"] = {{"creationTimestamp", now}};
  // kube-apiserver's user for a client without credentials.
  review["status"] = {{"userInfo",
                       {{"username", "system:anonymous"},
                        {"groups", Json::array({"system:unauthenticated"})}}}};
}

}  // namespace minisched::apiserver
