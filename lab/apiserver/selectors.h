#pragma once

#include <functional>
#include <string>

#include "lab/apiserver/object.h"

namespace minisched::apiserver {

// Returns a function that matches labels against a metav1.LabelSelector. A
// selector that is absent (null) or invalid matches no labels; an empty
// selector matches all.
std::function<bool(const Json& labels)> Compile(const Json& selector);

// True if the selector selects objects with these labels.
bool Selects(const Json& selector, const Json& labels);

// Returns the text form of a metav1.LabelSelector, such as "app=web". Returns
// "" if the selector is empty, absent or invalid.
std::string SelectorText(const Json& selector);

}  // namespace minisched::apiserver
