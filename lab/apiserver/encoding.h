#pragma once

#include <string>
#include <vector>

#include "lab/apiserver/http/http.h"
#include "lab/apiserver/object.h"
#include "lab/apiserver/resources.h"

namespace minisched::apiserver {

// How a client wants objects to be written: as they are, or as a table
// (kubectl). What the Accept header says. Follows kubernetes
// pkg/printers/tablegenerator.go.
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
  // The objects, which are in the form of the row's version, as the table that
  // kubectl prints. `metadata` is the list's, or {"resourceVersion": …} of a
  // single object.
  Json Table(const ResourceRow& row,
             const std::vector<apiserver::Object>& objects,
             const Json& metadata, Time now, bool headers = true) const;

  bool table_ = false;
  // How a table's row shows its object: "Object", "None" or, for anything else,
  // with its metadata alone.
  std::string include_object_;
};

}  // namespace minisched::apiserver
