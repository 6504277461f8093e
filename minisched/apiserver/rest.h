#pragma once

#include "minisched/apiserver/http/http.h"
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
  // A request, and the reply that is being made for it.
  struct Call;

  void Get(Call& call);
  void List(Call& call);
  void Watch(Call& call);
  void Create(Call& call);
  // For pods/binding and the like, which take an object of another kind.
  void Act(Call& call);
  void Update(Call& call);
  void Patch(Call& call);
  void Delete(Call& call);
  void DeleteCollection(Call& call);

  // Answers with the object, or with its scale where the path is that.
  void Answer(Call& call, const Object& object, int status = 200);
  void AnswerList(Call& call, const std::vector<Object>& objects,
                  const Json& metadata);

  Registry& registry_;
};

}  // namespace minisched::apiserver
