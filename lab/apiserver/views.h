#pragma once

#include "lab/apiserver/object.h"
#include "lab/apiserver/request_info.h"
#include "lab/apiserver/resources.h"

namespace minisched::apiserver {

// The form of an object at a path may differ from its stored form. Clients can
// read and write the replicas of an object as a Scale, and each event in two
// API groups. These functions convert between the stored form and the form at
// the path of `info`.

// Returns the row with the group, version and kind of the form at the path.
const ResourceRow& RowShown(const RequestInfo& info);
// Returns the subresource of the stored object that a write at the path
// changes. Returns "" for a scale, because a write to a scale changes the
// object itself.
std::string_view SubresourceStored(const RequestInfo& info);
// Returns the stored object in the form at the path.
Json Shown(const RequestInfo& info, const Json& stored);
// Returns the new stored object for `shown`, which has the form at the path.
// `old` is the present stored object, or null for a create. Throws StatusError
// (422) if a scale has negative replicas.
Json ToStored(const RequestInfo& info, const Json& old, Json shown);

// Events are stored in the form of the core group. These functions convert an
// event to the form of events.k8s.io and back. They take and return normalized
// objects. An event that already has the requested form stays unchanged. Follow
// kubernetes pkg/apis/events/v1/conversion.go.
Json ToEventsV1(Json event);
Json FromEventsV1(Json event);

}  // namespace minisched::apiserver
