#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/apiserver/object.h"
#include "minisched/api/time.h"

namespace minisched::apiserver {

// A column of what `kubectl get` prints, which the server makes (a
// metav1.Table). Follows kubernetes pkg/printers/internalversion/printers.go,
// but for the descriptions, which nobody reads.
struct Column {
  // The cell of an object: a string, number or bool.
  using Cell = std::function<Json(const Json& object, Time now)>;

  std::string name;  // "Ready"
  Cell cell;
  std::string type = "string";  // or "integer", "boolean"
  bool wide = false;            // with -o wide only
};

using Columns = std::vector<Column>;

// The columns of a resource by its qualified name, "deployments.apps": name and
// age for one that has no others. They live as long as the program.
const Columns& FindColumns(std::string_view resource);

// With two or three significant digits: "90s", "3h25m", "2y". Follows
// apimachinery pkg/util/duration/duration.go.
std::string HumanDuration(std::chrono::microseconds duration);

}  // namespace minisched::apiserver
