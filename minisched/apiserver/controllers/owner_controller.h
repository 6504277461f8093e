#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "minisched/apiserver/controllers/controller.h"

namespace minisched::apiserver {

// The reference to the controller that an object belongs to; null where it
// belongs to none.
const Json& ControllerOf(const Json& object);

// How many pods a workload wants: its spec.replicas.
std::int64_t Replicas(const Json& workload);

// An IntOrString: a number, or "25%" of `total`.
std::int64_t Scaled(const Json& value, std::int64_t total, bool round_up);

// A controller of objects that have others of their own: Sync() is called for
// one as often as it or one of those changes. Unlike upstream's it neither
// adopts what its selector selects nor lets go of what it doesn't.
class OwnerController : public Controller {
 protected:
  OwnerController(Registry& registry, const ResourceRow& row,
                  const ResourceRow& child_row);

  std::vector<Object> ChildrenOf(const Json& owner) const;
  // Makes one more.
  Object CreateChild(const Json& owner, Json child);

  const ResourceRow& child_row_;

 private:
  Index children_;  // by the uids of their controllers
};

}  // namespace minisched::apiserver
