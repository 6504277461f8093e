#pragma once

#include "lab/apiserver/http/http.h"
#include "lab/apiserver/object.h"
#include "lab/apiserver/registry.h"
#include "lab/apiserver/schema/schema.h"

namespace minisched::apiserver {

// These functions read what a client sent, in JSON, YAML or Kubernetes'
// protobuf, and check it against the schema. All throw StatusError, and
// ParseError, which becomes a response with code 400.

// Parses the body by its Content-Type, within the limits of limits.h. Refuses
// with 415 all types that a web page can send without a CORS preflight.
Json ParseBody(const Request& request);

// Normalizes a patched object. Throws unless the object is still of the row's
// kind.
void NormalizePatched(const Request& request, Json& object,
                      const ResourceRow& row, Reply& reply);

// Reads an object of the row's kind and normalizes it. The body may omit the
// kind.
Json DecodeObject(const Request& request, const ResourceRow& row, Reply& reply);

// Reads the DeleteOptions from the body, or from the query if the body is
// empty.
DeleteOptions DecodeDeleteOptions(const Request& request);

// Returns true if the query has dryRun=All. Throws for any other value.
bool IsDryRun(const Request& request);

}  // namespace minisched::apiserver
