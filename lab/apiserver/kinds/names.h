#pragma once

#include "lab/apiserver/errors.h"
#include "lab/apiserver/kinds/validation.h"
#include "lab/apiserver/object.h"
#include "minisched/api/names.h"

namespace minisched::apiserver {

// Labels: of metadata, or a selector's matchLabels.
void ValidateLabels(const Field& labels);
// A metav1.LabelSelector.
void ValidateLabelSelector(const Field& selector);
// A condition of a selector. Those on a node's labels have two operators more,
// and where they are but a preference, their values aren't looked at.
void ValidateRequirement(const Field& requirement, bool of_node = false,
                         bool check_values = true);

// An object's metadata; `check` is that of its name. Follows apimachinery
// pkg/api/validation/objectmeta.go.
void ValidateMetadata(const Json& metadata, bool namespaced, Field::Check check,
                      FieldErrors& errors);
void ValidateMetadataUpdate(const Json& metadata, const Json& old,
                            FieldErrors& errors);

}  // namespace minisched::apiserver
