#pragma once

#include <string>
#include <vector>

#include "lab/apiserver/http/http.h"
#include "lab/apiserver/object.h"
#include "lab/apiserver/resources.h"

namespace minisched::apiserver {

// The form of objects in answers, from the Accept header: the objects
// themselves, or a table (kubectl). Follows kubernetes
// pkg/printers/tablegenerator.go.
class Encoding {
 public:
  // Returns the first accepted form that this server supports. Throws
  // StatusError (406) if there is none.
  static Encoding Negotiate(const Request& request);

  // Encodes one object, as an answer or in a watch event. A table defines its
  // columns only if `first`: a watch defines them once.
  std::string Object(const ResourceRow& row, const apiserver::Object& object,
                     Time now, bool first = true) const;
  // Encodes a list of objects.
  std::string List(const ResourceRow& row,
                   const std::vector<apiserver::Object>& objects,
                   const Json& metadata, Time now) const;

 private:
  // Returns the table that kubectl prints. The objects are in the form of the
  // row's version. `metadata` is the list's, or {"resourceVersion": …} of a
  // single object.
  Json Table(const ResourceRow& row,
             const std::vector<apiserver::Object>& objects,
             const Json& metadata, Time now, bool headers = true) const;

  bool table_ = false;
  // The part of its object that a table row has: "Object" for all, "None" for
  // nothing, anything else for the metadata.
  std::string include_object_;
};

}  // namespace minisched::apiserver
