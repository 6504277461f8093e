#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lab/apiserver/http/http.h"

namespace minisched::apiserver {

// A form in which a client accepts the answer: the requested kind, or another
// kind made from it, as in "application/json;as=Table;v=v1;g=meta.k8s.io".
struct AcceptedForm {
  std::string kind;  // "" for the requested kind
  std::string group;
  std::string version;

  bool Is(std::string_view other_kind, std::string_view other_group,
          std::string_view other_version) const;
};

// Returns the JSON forms of the Accept header in their order. Without the
// header, returns one form: the requested kind. Follows apiserver
// pkg/endpoints/handlers/negotiation, without quality values.
std::vector<AcceptedForm> AcceptedForms(const Request& request);

}  // namespace minisched::apiserver
