#pragma once

#include "lab/apiserver/errors.h"
#include "lab/apiserver/kinds/validation.h"
#include "lab/apiserver/object.h"
#include "minisched/api/names.h"

namespace minisched::apiserver {

// Validates the labels of metadata, or a selector's matchLabels.
void ValidateLabels(const Field& labels);
// Validates a metav1.LabelSelector.
void ValidateLabelSelector(const Field& selector);
// Validates a requirement of a selector. If `of_node`, the operators Gt and Lt
// are valid too. If `check_values`, each value must be a valid label value.
void ValidateRequirement(const Field& requirement, bool of_node = false,
                         bool check_values = true);

// Validates an object's metadata. `check` validates its name. Follows
// apimachinery pkg/api/validation/objectmeta.go.
void ValidateMetadata(const Json& metadata, bool namespaced, Field::Check check,
                      FieldErrors& errors);
// Validates the new metadata of an existing object against its `old` metadata.
void ValidateMetadataUpdate(const Json& metadata, const Json& old,
                            FieldErrors& errors);

}  // namespace minisched::apiserver
