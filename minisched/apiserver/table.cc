#include "minisched/apiserver/table.h"

#include <string>
#include <utility>

#include "minisched/apiserver/errors.h"

namespace minisched::apiserver {
namespace {

constexpr const char* kApiVersion = "meta.k8s.io/v1";

Json Definition(const Column& column) {
  return {{"name", column.name},
          {"type", column.type},
          {"format", column.format},
          {"description", ""},
          {"priority", column.priority}};
}

// That a pod is over, for clients that leave such out.
Json RowConditions(const ResourceRow& row, const Json& object) {
  const std::string phase = GetString(object, "status", "phase");
  if (row.QualifiedName() != "pods" ||
      (phase != "Succeeded" && phase != "Failed")) {
    return nullptr;
  }
  return Json::array(
      {{{"type", "Completed"},
        {"status", "True"},
        {"reason", phase},
        {"message", phase == "Failed"
                        ? "The pod failed."
                        : "The pod has completed successfully."}}});
}

}  // namespace

void CheckIncludeObject(std::string_view include_object) {
  for (const char* known : {"Metadata", "Object", "None", ""}) {
    if (include_object == known) return;
  }
  const std::string quoted =
      Json(include_object).dump(-1, ' ', false, Json::error_handler_t::replace);
  throw BadRequest(
      "Unable to convert to Table as requested: includeObject: Invalid "
      "value: " +
      quoted + ": must be 'Metadata', 'Object', 'None', or empty");
}

Json MakeTable(const ResourceRow& row, const std::vector<Object>& objects,
               Json metadata, const TableOptions& options, Time now) {
  const Columns& columns = row.columns ? *row.columns : NameAndAge();
  Json definitions;
  if (options.headers) {
    for (const Column& column : columns) {
      definitions.push_back(Definition(column));
    }
  }
  Json rows = Json::array();
  for (const Object& object : objects) {
    Json cells = Json::array();
    for (const Column& column : columns) {
      cells.push_back(column.cell(*object, now));
    }
    Json conditions = RowConditions(row, *object);
    Json& table_row = rows.emplace_back();
    table_row["cells"] = std::move(cells);
    if (!conditions.is_null()) table_row["conditions"] = std::move(conditions);
    table_row["object"] = options.include_object == "Object" ? *object
                          : options.include_object == "None"
                              ? Json()
                              : ToPartialMetadata(*object);
  }
  return {{"kind", "Table"},
          {"apiVersion", kApiVersion},
          {"metadata", std::move(metadata)},
          {"columnDefinitions", std::move(definitions)},
          {"rows", std::move(rows)}};
}

Json ToPartialMetadata(const Json& object) {
  return {{"kind", "PartialObjectMetadata"},
          {"apiVersion", kApiVersion},
          {"metadata", Get(object, "metadata")}};
}

Json ToPartialMetadataList(const std::vector<Object>& objects, Json metadata) {
  Json items = Json::array();
  for (const Object& object : objects) {
    items.push_back(ToPartialMetadata(*object));
  }
  return {{"kind", "PartialObjectMetadataList"},
          {"apiVersion", kApiVersion},
          {"metadata", std::move(metadata)},
          {"items", std::move(items)}};
}

}  // namespace minisched::apiserver
