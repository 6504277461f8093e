#pragma once

#include <string>

#include "minisched/apiserver/object.h"

namespace minisched::apiserver {

// JSON as Go has it in interface{}, for the messages of upstream that show it.

// A value as %v prints it: "map[a:[1 x] b:<nil>]".
std::string GoText(const Json& value);

// The name of its type: "map[string]interface {}".
std::string GoType(const Json& value);

}  // namespace minisched::apiserver
