#pragma once

#include <string>

#include "minisched/apiserver/object.h"

namespace minisched::apiserver {

// Whether a metav1.LabelSelector selects what has these labels. One that is
// absent (null) or invalid selects nothing, an empty one everything.
bool Selects(const Json& selector, const Json& labels);

// The text form of a metav1.LabelSelector, "app=web"; "" if it is empty, absent
// or invalid.
std::string SelectorText(const Json& selector);

}  // namespace minisched::apiserver
