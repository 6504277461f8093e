#pragma once

#include "minisched/apiserver/object.h"

namespace minisched::apiserver {

// Events are in two groups, and each is seen in both. They are stored in the
// form of the core group; these give the other form, and go back. Both take and
// give normalized objects, and leave one alone that is in the right form.
// Follow kubernetes pkg/apis/events/v1/conversion.go.
Json ToEventsV1(Json event);
Json FromEventsV1(Json event);

}  // namespace minisched::apiserver
