#pragma once

#include <string>

#include "lab/apiserver/object.h"

namespace minisched::apiserver {

// A function that answers a review by changing it. `review` is the normalized
// object that the client sent. Clients create reviews only to get a response,
// and servers do not store them. `now` is the present time as metav1.Time.
// Throws StatusError.
using Review = void (*)(Json& review, const std::string& now);

// Answer whether the client (ReviewSelfAccess) or a subject in the review
// (ReviewAccess) may do something. The response is always yes, because this
// server has no authorization. Follow kubernetes pkg/registry/authorization and
// pkg/apis/authorization/validation, without the validation of selectors.
void ReviewSelfAccess(Json& review, const std::string& now);
void ReviewAccess(Json& review, const std::string& now);
// Does the same as ReviewAccess, for the namespace in the metadata of the
// review.
void ReviewLocalAccess(Json& review, const std::string& now);

// Answers that the client may do everything in a namespace.
void ReviewSelfRules(Json& review, const std::string& now);

// Answers that the client is an anonymous user, because this server has no
// authentication. Follows kubernetes pkg/registry/authentication.
void ReviewSelf(Json& review, const std::string& now);

}  // namespace minisched::apiserver
