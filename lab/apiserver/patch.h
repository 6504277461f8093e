#pragma once

#include "lab/apiserver/object.h"
#include "lab/apiserver/schema/schema.h"

namespace minisched::apiserver {

// Throws StatusError (415) unless `type` is the media type of a JSON patch, a
// merge patch or a strategic merge patch.
void CheckPatchType(const std::string& type);

// Applies a patch of media type `type` with one of the functions below, and
// restores apiVersion and kind as kube-apiserver does. REQUIRES:
// CheckPatchType(type) does not throw; `object` has its apiVersion and kind.
Json ApplyPatch(const std::string& type, const Json& object, const Json& patch,
                const SchemaType& schema);

// The following functions return the patched object, not normalized. They throw
// StatusError if the patch cannot be applied.

// Applies a JSON patch (RFC 6902). The patch may have 10,000 operations, with
// paths of 1024 bytes; all operations share one Effort (limits.h). As in
// upstream's library, and unlike in the RFC, "replace" adds a missing member.
Json ApplyJsonPatch(const Json& object, const Json& patch);

// Applies a merge patch (RFC 7386).
Json ApplyMergePatch(const Json& object, const Json& patch);

// Applies a strategic merge patch. Merges the lists that the schema marks for
// merging, and supports the directives $patch (replace, delete), $retainKeys,
// $deleteFromPrimitiveList/… and $setElementOrder/…. All merges share one
// Effort (limits.h). Follows apimachinery pkg/util/strategicpatch/patch.go.
Json ApplyStrategicMergePatch(const Json& object, const Json& patch,
                              const SchemaType& type);

}  // namespace minisched::apiserver
