#pragma once

#include <functional>
#include <string>

#include "lab/apiserver/object.h"

namespace minisched::apiserver {

// A metav1.LabelSelector, ready to match the labels of many objects. One that
// is absent (null) or invalid selects nothing, an empty one everything.
std::function<bool(const Json& labels)> Compile(const Json& selector);

// Whether it selects what has these labels.
bool Selects(const Json& selector, const Json& labels);

// The text form of a metav1.LabelSelector, "app=web"; "" if it is empty, absent
// or invalid.
std::string SelectorText(const Json& selector);

}  // namespace minisched::apiserver
