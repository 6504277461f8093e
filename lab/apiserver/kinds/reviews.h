#pragma once

#include <string>

#include "lab/apiserver/object.h"

namespace minisched::apiserver {

// Turns a review, as the client sent it and normalized, into its answer. A
// review is an object that clients create only for the answer; no server stores
// reviews. `now` is the present time as metav1.Time. Throws StatusError.
using Review = void (*)(Json& review, const std::string& now);

// Answer whether the client, or a subject in the review, may do something:
// always yes, because this server has no authorization. Follow kubernetes
// pkg/registry/authorization and pkg/apis/authorization/validation, without the
// validation of selectors.
void ReviewSelfAccess(Json& review, const std::string& now);
void ReviewAccess(Json& review, const std::string& now);
// Does the same for one namespace, which the review's metadata names.
void ReviewLocalAccess(Json& review, const std::string& now);

// Answers what the client may do in a namespace: everything.
void ReviewSelfRules(Json& review, const std::string& now);

// Answers who the client is: an anonymous user, because this server has no
// authentication. Follows kubernetes pkg/registry/authentication.
void ReviewSelf(Json& review, const std::string& now);

}  // namespace minisched::apiserver
