#pragma once

#include <string_view>
#include <vector>

#include "minisched/api/time.h"
#include "minisched/apiserver/object.h"
#include "minisched/apiserver/resources.h"

namespace minisched::apiserver {

// What to put into a metav1.Table.
struct TableOptions {
  // How each row shows its object: "Object", "None" or, for anything else,
  // with its metadata alone.
  std::string_view include_object = "Metadata";
  // Only the first table of a watch says what its columns are.
  bool headers = true;
};

// The objects, which are in the form of the row's version, as the table that
// kubectl prints. `metadata` is the list's, or {"resourceVersion": …} of a
// single object. Follows kubernetes pkg/printers/tablegenerator.go.
Json MakeTable(const ResourceRow& row, const std::vector<Object>& objects,
               Json metadata, const TableOptions& options, Time now);

}  // namespace minisched::apiserver
