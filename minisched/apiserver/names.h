#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "minisched/apiserver/errors.h"
#include "minisched/apiserver/object.h"
#include "minisched/apiserver/strategy.h"

namespace minisched::apiserver {

// What is wrong with a name or label, in upstream's words: nothing, or one
// message for each rule that it breaks. Follows apimachinery
// pkg/api/validate/content.
std::vector<std::string> CheckDns1123Label(std::string_view value);
std::vector<std::string> CheckDns1123Subdomain(std::string_view value);
std::vector<std::string> CheckDns1035Label(std::string_view value);
// The form of label keys, annotations and finalizers: [prefix/]name.
std::vector<std::string> CheckLabelKey(std::string_view value);
std::vector<std::string> CheckLabelValue(std::string_view value);

// The name of element `index` of a list of finalizers.
void ValidateFinalizer(const std::string& name, std::size_t index,
                       const std::string& field, FieldErrors& errors);

// Adds an Invalid for each of `messages`.
void AddInvalid(FieldErrors& errors, const std::string& field,
                const Json& value, const std::vector<std::string>& messages);

// Labels as a field of that path: of metadata, or a selector's matchLabels.
void ValidateLabels(const Json& labels, const std::string& field,
                    FieldErrors& errors);

// A metav1.LabelSelector as a field of that path.
void ValidateLabelSelector(const Json& selector, const std::string& field,
                           FieldErrors& errors);

// An object's metadata; `path` is "metadata", or a template's. Follows
// apimachinery pkg/api/validation/objectmeta.go.
void ValidateMetadata(const Json& metadata, bool namespaced,
                      Strategy::NameRule rule, FieldErrors& errors);
void ValidateMetadataUpdate(const Json& metadata, const Json& old,
                            FieldErrors& errors);

}  // namespace minisched::apiserver
