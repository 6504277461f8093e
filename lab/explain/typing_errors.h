#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>

#include "lab/explain/answer.h"
#include "minisched/api/node.h"

namespace minisched::explain {

// Returns true if one of two texts is probably meant to be the other: they
// differ only in case, in separators, or in one letter. Texts with different
// digits are not alike: "us-east-1a" and "us-east-1b" are two zones.
bool LooksMistyped(std::string_view a, std::string_view b);

// Returns the change with which the pod selects what the node has, if the pod's
// node selector and required node affinity differ from the node's labels only
// by typing errors. With Gt and Lt, a number that is no integer is a typing
// error.
// `pod` is the pod as the server returned it.
std::optional<Change> WithoutTypingErrors(nlohmann::json pod, const Node& node);

}  // namespace minisched::explain
