#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lab/apiserver/http.h"

namespace minisched::apiserver {

// A form of the response that a client accepts: the requested kind, or the kind
// that the parameters of a media range name, as in
// "application/json;as=Table;v=v1;g=meta.k8s.io".
struct AcceptedForm {
  std::string kind;  // "" for the requested kind
  std::string group;
  std::string version;

  bool Is(std::string_view other_kind, std::string_view other_group,
          std::string_view other_version) const;
};

// Returns the JSON forms that the Accept header lists, in the header's order.
// Without the header, returns the requested kind. Follows apiserver
// pkg/endpoints/handlers/negotiation, but ignores quality values.
std::vector<AcceptedForm> AcceptedForms(const Request& request);

}  // namespace minisched::apiserver
