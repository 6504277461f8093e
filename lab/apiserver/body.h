#pragma once

#include "lab/apiserver/http.h"
#include "lab/apiserver/object.h"
#include "lab/apiserver/registry.h"
#include "lab/apiserver/schema/schema.h"

namespace minisched::apiserver {

// These functions read the body and the options of a request. They throw
// StatusError, or ParseError, which the server answers with code 400.

// Parses the body as JSON, YAML or Kubernetes' protobuf, depending on its
// Content-Type. A body without a Content-Type is JSON, unless the request has
// an Origin. Enforces the limits of limits.h. Throws 415 for other types. These
// include all types that a web page can send without a CORS preflight, so no
// web page can change objects.
Json ParseBody(const Request& request);

// Normalizes a patched object, as Normalize() does (schema.h). Throws 422 if
// the patch has changed the apiVersion or kind, or has given a field the wrong
// type. The request's fieldValidation decides whether unknown fields are an
// error, or warnings in the reply.
void NormalizePatched(const Request& request, Json& object,
                      const ResourceRow& row, Reply& reply);

// Parses the body as an object of the row's kind and normalizes the object. The
// body may omit the apiVersion and kind.
Json DecodeObject(const Request& request, const ResourceRow& row, Reply& reply);

// Returns the DeleteOptions in the body, or in the query if the body is empty.
DeleteOptions DecodeDeleteOptions(const Request& request);

// Returns true if the query has dryRun=All, and false if it has no dryRun or an
// empty one. Throws 422 for any other value.
bool IsDryRun(const Request& request);

}  // namespace minisched::apiserver
