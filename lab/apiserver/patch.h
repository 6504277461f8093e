#pragma once

#include "lab/apiserver/object.h"
#include "lab/apiserver/schema/schema.h"

namespace minisched::apiserver {

// Throws StatusError (415) unless `type` is the media type of one of the three
// kinds of patches.
void CheckPatchType(const std::string& type);

// Applies a patch of media type `type` with one of the functions below.
// REQUIRES: `object` has its apiVersion and kind.
Json ApplyPatch(const std::string& type, const Json& object, const Json& patch,
                const SchemaType& schema);

// The following functions throw StatusError if the patch cannot be applied. The
// result is not normalized.

// Applies a JSON patch (RFC 6902). It has at most 10,000 operations, with paths
// of at most 1024 bytes, and one Effort (limits.h). Upstream's library is laxer
// than the RFC, so here too "replace" adds a missing member.
Json ApplyJsonPatch(const Json& object, const Json& patch);

// Applies a merge patch (RFC 7386).
Json ApplyMergePatch(const Json& object, const Json& patch);

// Applies a strategic merge patch. It merges the lists that the schema marks
// for that, and supports the directives $patch (replace, delete), $retainKeys,
// $deleteFromPrimitiveList/… and $setElementOrder/…. All merges share one
// Effort (limits.h). Follows apimachinery pkg/util/strategicpatch/patch.go.
Json ApplyStrategicMergePatch(const Json& object, const Json& patch,
                              const SchemaType& type);

}  // namespace minisched::apiserver
