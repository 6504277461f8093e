#pragma once

#include "minisched/apiserver/http.h"
#include "minisched/apiserver/registry.h"
#include "minisched/apiserver/request_info.h"

namespace minisched::apiserver {

// Answers requests for resources. Follows apiserver pkg/endpoints/handlers. On
// the loop's thread only.
class Rest {
 public:
  explicit Rest(Registry& registry) : registry_(registry) {}

  // Throws StatusError.
  Reply Handle(const Request& request, const RequestInfo& info);

 private:
  Reply Get(const Request& request, const RequestInfo& info);
  Reply List(const Request& request, const RequestInfo& info);
  Reply Watch(const Request& request, const RequestInfo& info);
  Reply Create(const Request& request, const RequestInfo& info);
  // For pods/binding and the like, which take an object of another kind.
  Reply Act(const Request& request, const RequestInfo& info);
  Reply Update(const Request& request, const RequestInfo& info);
  Reply Patch(const Request& request, const RequestInfo& info);
  Reply Delete(const Request& request, const RequestInfo& info);
  Reply DeleteCollection(const Request& request, const RequestInfo& info);

  Registry& registry_;
};

}  // namespace minisched::apiserver
