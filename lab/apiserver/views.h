#pragma once

#include "lab/apiserver/object.h"
#include "lab/apiserver/request_info.h"
#include "lab/apiserver/resources.h"

namespace minisched::apiserver {

// The form of an object at a path may differ from its stored form: clients can
// read and write an object with replicas as a scale, and events in two groups.
// These functions convert between the stored form and the form at the path of
// `info`.

// Returns the kind at the path.
const ResourceRow& RowShown(const RequestInfo& info);
// Returns which subresource of the stored object a write at the path changes.
// This is "" for a scale, because a write to it changes the object itself.
std::string_view SubresourceStored(const RequestInfo& info);
// Returns the stored object in the form at the path.
Json Shown(const RequestInfo& info, const Json& stored);
// Returns the new stored object for `shown`, which has the form at the path.
// `old` is the present stored object. Throws StatusError (422) if a scale has
// negative replicas.
Json ToStored(const RequestInfo& info, const Json& old, Json shown);

// Events are stored in the form of the core group. These functions convert them
// to the form of events.k8s.io and back. Both take and return normalized
// objects, and return an event that already has the requested form unchanged.
// Follow kubernetes pkg/apis/events/v1/conversion.go.
Json ToEventsV1(Json event);
Json FromEventsV1(Json event);

}  // namespace minisched::apiserver
