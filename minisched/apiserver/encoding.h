#pragma once

#include <string>
#include <vector>

#include "minisched/apiserver/http.h"
#include "minisched/apiserver/object.h"
#include "minisched/apiserver/resources.h"

namespace minisched::apiserver {

// How a client wants objects to be written: as they are, as a table (kubectl),
// or only their metadata. What the Accept header says.
class Encoding {
 public:
  // The first that can be served. Throws StatusError (406) if there is none.
  static Encoding Negotiate(const Request& request);

  // One object, a list of them, or the object of a watch event; a table says
  // what its columns are in the first one of a watch.
  std::string Object(const ResourceRow& row, const apiserver::Object& object,
                     Time now, bool first = true) const;
  std::string List(const ResourceRow& row,
                   const std::vector<apiserver::Object>& objects,
                   const Json& metadata, Time now) const;
  // Anything else, which has one form only.
  std::string Document(const Json& document) const;

  const std::string& content_type() const { return content_type_; }

 private:
  enum class Form { kWhole, kTable, kMetadata };
  Form form_ = Form::kWhole;
  std::string as_;  // what the client calls it
  std::string content_type_ = "application/json";
  std::string include_object_ = "Metadata";  // in a table's rows
  bool pretty_ = false;
};

}  // namespace minisched::apiserver
