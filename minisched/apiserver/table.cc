#include "minisched/apiserver/table.h"

#include <string>
#include <utility>

namespace minisched::apiserver {
namespace {

constexpr const char* kApiVersion = "meta.k8s.io/v1";

Json Definition(const Column& column) {
  return {{"name", column.name},
          {"type", column.type},
          {"format", column.name == "Name" ? "name" : ""},
          {"description", ""},
          {"priority", column.wide ? 1 : 0}};
}

// An object without all but its metadata.
Json ToPartialMetadata(const Json& object) {
  return {{"kind", "PartialObjectMetadata"},
          {"apiVersion", kApiVersion},
          {"metadata", Get(object, "metadata")}};
}

}  // namespace

Json MakeTable(const ResourceRow& row, const std::vector<Object>& objects,
               Json metadata, const TableOptions& options, Time now) {
  Json definitions;
  if (options.headers) {
    for (const Column& column : *row.columns) {
      definitions.push_back(Definition(column));
    }
  }
  Json rows = Json::array();
  for (const Object& object : objects) {
    Json cells = Json::array();
    for (const Column& column : *row.columns) {
      cells.push_back(column.cell(*object, now));
    }
    rows.push_back({{"cells", std::move(cells)},
                    {"object", options.include_object == "Object" ? *object
                               : options.include_object == "None"
                                   ? Json()
                                   : ToPartialMetadata(*object)}});
  }
  return {{"kind", "Table"},
          {"apiVersion", kApiVersion},
          {"metadata", std::move(metadata)},
          {"columnDefinitions", std::move(definitions)},
          {"rows", std::move(rows)}};
}

}  // namespace minisched::apiserver
