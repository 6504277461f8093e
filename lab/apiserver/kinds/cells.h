#pragma once

#include <functional>
#include <map>
#include <string>

#include "lab/apiserver/kinds/columns.h"

namespace minisched::apiserver {

// Cells that several kinds have.

// Returns a cell with the value at a path, or `none` if the value is missing or
// empty. If `none` is a string, numbers become strings.
Column::Cell Value(const char* path, Json none = "");

// Returns a cell with how long ago the metav1.Time at a path was ("5m"), or
// `none` if there is none.
Column::Cell Since(const char* path, const char* none = "<unknown>");

// Returns "readyReplicas/replicas".
Json ReadyReplicas(const Json& object, Time now);

Column Integer(const char* name, const char* path);

// Adds the columns of the kinds that the server only stores.
void AddStoredColumns(std::map<std::string, Columns, std::less<>>& all);
// Adds the columns of volumes, claims, and the kinds of storage.k8s.io.
void AddVolumeColumns(std::map<std::string, Columns, std::less<>>& all);

}  // namespace minisched::apiserver
