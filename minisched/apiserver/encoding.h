#pragma once

#include <string>
#include <vector>

#include "minisched/apiserver/http/http.h"
#include "minisched/apiserver/object.h"
#include "minisched/apiserver/resources.h"

namespace minisched::apiserver {

// How a client wants objects to be written: as they are, or as a table
// (kubectl). What the Accept header says.
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

 private:
  bool table_ = false;
  std::string include_object_ = "Metadata";  // in a table's rows
};

}  // namespace minisched::apiserver
