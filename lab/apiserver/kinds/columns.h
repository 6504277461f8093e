#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/apiserver/object.h"
#include "minisched/api/time.h"

namespace minisched::apiserver {

// A column of a metav1.Table, which the server creates for `kubectl get`.
// Follows kubernetes pkg/printers/internalversion/printers.go, without the
// descriptions of columns.
struct Column {
  // Returns the cell of an object: a string, number or bool.
  using Cell = std::function<Json(const Json& object, Time now)>;

  std::string name;  // "Ready"
  Cell cell;
  std::string type = "string";  // or "integer", "boolean"
  bool wide = false;            // only with -o wide
  // In the first column: selects the object of a list whose cell ends in
  // " (default)", or nullptr for none.
  Object (*default_of)(const std::vector<Object>& list) = nullptr;
};

using Columns = std::vector<Column>;

// Returns the columns of the resource with this qualified name, such as
// "deployments.apps". By default a resource has the columns Name and Age. The
// columns live as long as the program.
const Columns& FindColumns(std::string_view resource);

// Formats a duration with one or two units: "90s", "3h25m", "2y". Rounds down.
// Follows apimachinery pkg/util/duration/duration.go.
std::string HumanDuration(std::chrono::microseconds duration);

}  // namespace minisched::apiserver
