#pragma once

#include "lab/apiserver/object.h"
#include "lab/apiserver/request_info.h"
#include "lab/apiserver/resources.h"

namespace minisched::apiserver {

// What a client reads and writes at a path need not be the object as it is
// stored: what has replicas is also seen as a scale, and an event in two
// groups.

// Says what kind is seen there.
const ResourceRow& RowShown(const RequestInfo& info);
// Which part of the stored object is written there: a scale is, by changing its
// object itself.
std::string_view SubresourceStored(const RequestInfo& info);
// The stored object as it is seen there.
Json Shown(const RequestInfo& info, const Json& stored);
// What becomes of the stored object, `old`, if it is to be seen like that.
// Throws StatusError (422) where a scale's number of replicas is negative.
Json ToStored(const RequestInfo& info, const Json& old, Json shown);

// Events are stored in the form of the core group; these give the other form,
// and go back. Both take and give normalized objects, and leave one alone that
// is in the right form. Follow kubernetes pkg/apis/events/v1/conversion.go.
Json ToEventsV1(Json event);
Json FromEventsV1(Json event);

}  // namespace minisched::apiserver
