#pragma once

#include <string>
#include <vector>

#include "lab/apiserver/http.h"
#include "lab/apiserver/object.h"
#include "lab/apiserver/resources.h"

namespace minisched::apiserver {

// The form of objects in responses: the objects themselves, or a table for
// `kubectl get`. The Accept header determines the form. Follows kubernetes
// pkg/printers/tablegenerator.go.
class Encoding {
 public:
  // Returns the first accepted form that this server supports. Throws
  // StatusError (406) if there is none.
  static Encoding Negotiate(const Request& request);

  // Encodes one object as JSON, for a response or a watch event. A table has
  // column definitions only if `first`: a watch sends them with its first
  // object only.
  std::string Object(const ResourceRow& row, const apiserver::Object& object,
                     Time now, bool first = true) const;
  // Encodes a list of objects as JSON.
  std::string List(const ResourceRow& row,
                   const std::vector<apiserver::Object>& objects,
                   const Json& metadata, Time now) const;

 private:
  // Returns the metav1.Table that kubectl prints. The objects are in the form
  // of the row's group. `metadata` is the metadata of the list, or
  // {"resourceVersion": …} of a single object. Without `headers` the table has
  // no column definitions. Only a list marks its default object.
  Json Table(const ResourceRow& row,
             const std::vector<apiserver::Object>& objects,
             const Json& metadata, Time now, bool headers, bool is_list) const;

  bool table_ = false;
  // The query's includeObject. A table row contains the whole object for
  // "Object", nothing for "None", and the object's metadata otherwise.
  std::string include_object_;
};

}  // namespace minisched::apiserver
