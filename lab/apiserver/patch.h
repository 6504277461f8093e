#pragma once

#include "lab/apiserver/object.h"
#include "lab/apiserver/schema/schema.h"

namespace minisched::apiserver {

// Throws StatusError (415) unless it is the media type of one of the three
// kinds of patches.
void CheckPatchType(const std::string& type);

// What `object`, which says its apiVersion and kind, becomes by a patch of that
// media type, as below.
Json ApplyPatch(const std::string& type, const Json& object, const Json& patch,
                const SchemaType& schema);

// These throw StatusError where the patch can't be applied. The result is not
// normalized.

// RFC 6902. At most 10,000 operations, with paths of at most 1024 bytes, that
// move only so much in all (limits.h). As upstream's library is laxer than the
// RFC, "replace" adds what isn't there.
Json ApplyJsonPatch(const Json& object, const Json& patch);

// RFC 7386.
Json ApplyMergePatch(const Json& object, const Json& patch);

// Merges lists where the type says so, and understands the directives $patch
// (replace, delete), $retainKeys, $deleteFromPrimitiveList/… and
// $setElementOrder/…. All lists that are merged are only so long (limits.h).
// Follows apimachinery pkg/util/strategicpatch/patch.go.
Json ApplyStrategicMergePatch(const Json& object, const Json& patch,
                              const SchemaType& type);

}  // namespace minisched::apiserver
