#pragma once

#include "lab/apiserver/http/http.h"
#include "lab/apiserver/object.h"
#include "lab/apiserver/registry.h"
#include "lab/apiserver/schema/schema.h"

namespace minisched::apiserver {

// What a client sent: read from JSON, YAML or Kubernetes' protobuf, checked
// against the schema. All throw StatusError; ParseError stands for a 400.

// The body as a document, by its Content-Type (415 for any that a web page can
// send without asking first). Nesting is limited.
Json ParseBody(const Request& request);

// Normalizes what a patch has made of an object of the row's kind, which has to
// be of this kind still.
void NormalizePatched(const Request& request, Json& object,
                      const ResourceRow& row, Reply& reply);

// An object of the row's kind, which the body need not repeat, normalized.
Json DecodeObject(const Request& request, const ResourceRow& row, Reply& reply);

// DeleteOptions, of the body or the query.
DeleteOptions DecodeDeleteOptions(const Request& request);

// dryRun=All of the query. Throws where it is anything else.
bool IsDryRun(const Request& request);

}  // namespace minisched::apiserver
