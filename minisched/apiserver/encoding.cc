#include "minisched/apiserver/encoding.h"

#include <deque>
#include <utility>

#include "minisched/apiserver/errors.h"
#include "minisched/apiserver/event_view.h"
#include "minisched/apiserver/list_options.h"
#include "minisched/apiserver/registry.h"
#include "minisched/apiserver/table.h"

namespace minisched::apiserver {
namespace {

using ObjectPtr = apiserver::Object;

// Bytes that are not UTF-8 can come in escapes; they must not end the server.
std::string Dump(const Json& json, bool pretty) {
  return json.dump(pretty ? 2 : -1, ' ', false, Json::error_handler_t::replace);
}

// The text of an object. All watches of a resource are about to write the same
// change, so the last ones are kept.
const std::string& TextOf(const ObjectPtr& object) {
  static constexpr std::size_t kKept = 128;
  static std::deque<std::pair<ObjectPtr, std::string>> kept;
  for (const auto& [known, text] : kept) {
    if (known == object) return text;
  }
  if (kept.size() == kKept) kept.pop_back();
  return kept.emplace_front(object, Dump(*object, false)).second;
}

// The text of an object in a list, where it goes without kind and apiVersion.
std::string ItemText(const ResourceRow& row, const ObjectPtr& object) {
  std::string text = TextOf(object);
  // They come first in most kinds, so that there is nothing to be copied.
  const std::string start = R"({"apiVersion":")" + row.ApiVersion() +
                            R"(","kind":")" + row.kind + "\",";
  if (text.starts_with(start)) return "{" + text.substr(start.size());
  Json item = *object;
  item.erase("kind");
  item.erase("apiVersion");
  return Dump(item, false);
}

// As the resource's group shows the object.
ObjectPtr InView(const ResourceRow& row, const ObjectPtr& object) {
  if (&StorageRow(row) == &row) return object;
  return std::make_shared<const Json>(ToEventsV1(*object));
}

std::vector<ObjectPtr> InView(const ResourceRow& row,
                              const std::vector<ObjectPtr>& objects) {
  std::vector<ObjectPtr> views;
  views.reserve(objects.size());
  for (const ObjectPtr& object : objects) views.push_back(InView(row, object));
  return views;
}

std::string Parameter(const MediaType& type, const std::string& name) {
  const auto found = type.parameters.find(name);
  return found == type.parameters.end() ? "" : found->second;
}

}  // namespace

Encoding Encoding::Negotiate(const Request& request) {
  Encoding encoding;
  // People with a command line or a browser like to read it.
  const std::string agent = request.Header("user-agent");
  encoding.pretty_ =
      request.query.contains("pretty")
          ? QueryBool(request, "pretty")
          : agent.starts_with("curl/") || agent.starts_with("Mozilla/");
  if (request.query.contains("includeObject")) {
    encoding.include_object_ = request.Query("includeObject");
    CheckIncludeObject(encoding.include_object_);
  }
  const auto types = ParseMediaTypes(request.Header("accept"));
  if (types.empty()) return encoding;
  bool json = false;
  for (const MediaType& type : types) {
    // What is JSON is YAML too.
    if (type.type != "application/json" && type.type != "application/yaml" &&
        type.type != "application/*" && type.type != "*/*") {
      continue;
    }
    if (type.type == "application/yaml") encoding.content_type_ = type.type;
    json = true;
    const std::string& as = encoding.as_ = Parameter(type, "as");
    if (as.empty()) return encoding;
    if (Parameter(type, "v") != "v1" || Parameter(type, "g") != "meta.k8s.io") {
      continue;
    }
    if (as == "Table") {
      encoding.form_ = Form::kTable;
      return encoding;
    }
    if (as == "PartialObjectMetadata" || as == "PartialObjectMetadataList") {
      encoding.form_ = Form::kMetadata;
      return encoding;
    }
  }
  throw StatusError(406, "NotAcceptable",
                    std::string(json ? "only the following media types are "
                                       "accepted: "
                                     : "406: Not Acceptable\n\nAvailable "
                                       "representations: ") +
                        "application/json, application/yaml");
}

std::string Encoding::Object(const ResourceRow& row, const ObjectPtr& object,
                             Time now, bool first) const {
  if (form_ == Form::kWhole && !pretty_ && &StorageRow(row) == &row) {
    return TextOf(object);
  }
  const ObjectPtr view = InView(row, object);
  switch (form_) {
    case Form::kWhole:
      break;
    case Form::kTable:
      return Dump(
          MakeTable(
              row, {view},
              {{"resourceVersion", Get(*view, "metadata", "resourceVersion")}},
              {.include_object = include_object_, .headers = first}, now),
          pretty_);
    case Form::kMetadata:
      return Dump(ToPartialMetadata(*view), pretty_);
  }
  return Dump(*view, pretty_);
}

std::string Encoding::List(const ResourceRow& row,
                           const std::vector<ObjectPtr>& objects,
                           const Json& metadata, Time now) const {
  const auto views = InView(row, objects);
  if (form_ == Form::kTable) {
    return Dump(MakeTable(row, views, metadata,
                          {.include_object = include_object_}, now),
                pretty_);
  }
  if (as_ == "PartialObjectMetadata") {
    throw StatusError(406, "NotAcceptable",
                      "you requested PartialObjectMetadata, but the requested "
                      "object is a list (" +
                          row.kind + "List)");
  }
  if (form_ == Form::kMetadata) {
    return Dump(ToPartialMetadataList(views, metadata), pretty_);
  }
  Json list = {{"kind", row.kind + "List"},
               {"apiVersion", row.ApiVersion()},
               {"metadata", metadata}};
  std::string text = Dump(list, false);
  text.back() = ',';
  text += R"("items":[)";
  for (const ObjectPtr& view : views) {
    text.append(ItemText(row, view)).append(",");
  }
  if (text.back() == ',') text.pop_back();
  text += "]}";
  return pretty_ ? Dump(Json::parse(text), true) : text;
}

std::string Encoding::Document(const Json& document) const {
  return Dump(document, pretty_);
}

}  // namespace minisched::apiserver
