#include "lab/apiserver/encoding.h"

#include <utility>

#include "lab/apiserver/accept.h"
#include "lab/apiserver/errors.h"
#include "lab/apiserver/registry.h"
#include "lab/apiserver/views.h"

namespace minisched::apiserver {
namespace {

using ObjectPtr = apiserver::Object;

constexpr const char* kTableVersion = "meta.k8s.io/v1";

Json Definition(const Column& column) {
  return {{"name", column.name},
          {"type", column.type},
          {"format", column.name == "Name" ? "name" : ""},
          {"description", ""},
          {"priority", column.wide ? 1 : 0}};
}

// Returns an object reduced to its metadata.
Json ToPartialMetadata(const Json& object) {
  return {{"kind", "PartialObjectMetadata"},
          {"apiVersion", kTableVersion},
          {"metadata", Get(object, "metadata")}};
}

// Returns the object in the form of the row's group.
ObjectPtr InView(const ResourceRow& row, const ObjectPtr& object) {
  if (&StorageRow(row) == &row) return object;
  return std::make_shared<const Json>(ToEventsV1(*object));
}

}  // namespace

Encoding Encoding::Negotiate(const Request& request) {
  Encoding encoding;
  encoding.include_object_ = request.Query("includeObject");
  for (const AcceptedForm& form : AcceptedForms(request)) {
    encoding.table_ = form.Is("Table", "meta.k8s.io", "v1");
    // The server supports no other kind. Try the next form in the header.
    if (encoding.table_ || form.kind.empty()) return encoding;
  }
  throw StatusError(406, "NotAcceptable",
                    "406: Not Acceptable\n\nAvailable representations: "
                    "application/json, application/json;as=Table;v=v1;"
                    "g=meta.k8s.io");
}

std::string Encoding::Object(const ResourceRow& row, const ObjectPtr& object,
                             Time now, bool first) const {
  const ObjectPtr view = InView(row, object);
  if (!table_) return Dump(*view);
  return Dump(
      Table(row, {view},
            {{"resourceVersion", Get(*view, "metadata", "resourceVersion")}},
            now, first, /*is_list=*/false));
}

std::string Encoding::List(const ResourceRow& row,
                           const std::vector<ObjectPtr>& objects,
                           const Json& metadata, Time now) const {
  std::vector<ObjectPtr> views;
  views.reserve(objects.size());
  for (const ObjectPtr& object : objects) views.push_back(InView(row, object));
  if (table_) {
    return Dump(Table(row, views, metadata, now, /*headers=*/true,
                      /*is_list=*/true));
  }
  Json items = Json::array();
  for (const ObjectPtr& view : views) {
    Json& item = items.emplace_back(*view);
    item.erase("kind");
    item.erase("apiVersion");
  }
  return Dump({{"kind", row.kind + "List"},
               {"apiVersion", row.ApiVersion()},
               {"metadata", metadata},
               {"items", std::move(items)}});
}

Json Encoding::Table(const ResourceRow& row,
                     const std::vector<ObjectPtr>& objects,
                     const Json& metadata, Time now, bool headers,
                     bool is_list) const {
  Json definitions;
  if (headers) {
    for (const Column& column : *row.columns) {
      definitions.push_back(Definition(column));
    }
  }
  const auto default_of = row.columns->front().default_of;
  const ObjectPtr by_default =
      is_list && default_of ? default_of(objects) : nullptr;
  Json rows = Json::array();
  for (const ObjectPtr& object : objects) {
    Json cells = Json::array();
    for (const Column& column : *row.columns) {
      cells.push_back(column.cell(*object, now));
    }
    if (object == by_default) {
      cells[0] = GetString(cells[0]) + " (default)";
    }
    rows.push_back(
        {{"cells", std::move(cells)},
         {"object", include_object_ == "Object" ? *object
                    : include_object_ == "None" ? Json()
                                                : ToPartialMetadata(*object)}});
  }
  return {{"kind", "Table"},
          {"apiVersion", kTableVersion},
          {"metadata", metadata},
          {"columnDefinitions", std::move(definitions)},
          {"rows", std::move(rows)}};
}

}  // namespace minisched::apiserver
