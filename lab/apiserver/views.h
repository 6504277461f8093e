#pragma once

#include "lab/apiserver/object.h"
#include "lab/apiserver/request_info.h"
#include "lab/apiserver/resources.h"

namespace minisched::apiserver {

// The form of an object at a path may differ from its stored form. At a path
// that ends in "scale", clients read and write the replicas of the object as a
// Scale. Events have two paths, one in each of their API groups, but they are
// stored in the form of the core group. ToShown() and ToStored() convert
// between the stored form and the form at the path of `info`.

// Returns a row with the group, version and kind of the form at the path.
// REQUIRES: the subresource is neither "binding" nor "eviction".
const ResourceRow& ShownRow(const RequestInfo& info);
// Returns the subresource that a write at the path changes in the stored
// object, or "" if the write changes the object itself, as a write to a scale
// does.
std::string_view WrittenSubresource(const RequestInfo& info);
// Returns the stored object in the form at the path.
Json ToShown(const RequestInfo& info, const Json& stored);
// Returns the new stored object for `shown`, which has the form at the path.
// `old` is the present stored object, or null for a create. Throws StatusError
// (422) if a scale has negative replicas.
Json ToStored(const RequestInfo& info, const Json& old, Json shown);

// These functions convert an event from the form of the core group to that of
// events.k8s.io, and back. They take and return normalized objects. An event
// that already has the requested form stays unchanged. They follow kubernetes
// pkg/apis/events/v1/conversion.go.
Json ToEventsV1(Json event);
Json FromEventsV1(Json event);

}  // namespace minisched::apiserver
